import type { Schema } from '@svc/contract/schema.ts';
import type { VersionInfo } from '@svc/contract/service.ts';
import type { Route } from './route-table.ts';

type Options = { routes: readonly Route[]; version: VersionInfo; errorSchema?: Schema };

/** The OpenAPI document of a connector, drawn from its routes. */
export function toOpenApi({ routes, version, errorSchema = {} }: Options): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)$/, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(route, errorSchema) };
  }
  return {
    openapi: '3.1.0',
    info: { title: version.service, version: version.version },
    paths,
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  };
}

function toOperation({ path, doc }: Route, errorSchema: Schema): object {
  const name = /:(\w+)$/.exec(path)?.[1];
  return {
    summary: doc?.summary ?? '',
    ...(doc?.needsKey === true && { security: [{ key: [] }] }),
    ...(name !== undefined && { parameters: [{ name, in: 'path', required: true, schema: { type: 'string' } }] }),
    ...(doc?.body !== undefined && { requestBody: { required: true, content: asJson(doc.body) } }),
    responses: {
      200: { description: 'The answer', content: asJson(doc?.reply ?? {}) },
      default: { description: 'What is wrong', content: asJson(errorSchema) },
    },
  };
}

const asJson = (schema: Schema) => ({ 'application/json': { schema } });
