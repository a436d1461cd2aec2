import type { Schema } from '@svc/contract/schema.ts';
import type { VersionInfo } from '@svc/contract/service.ts';
import { sendJson } from './exchange.ts';
import type { Route } from './route-table.ts';

type Options = { routes: readonly Route[]; version: VersionInfo; errorSchema?: Schema };

/** The routes with which every process describes itself: `/version` and `/openapi.json`. */
export function createSelfRoutes({ routes, version, errorSchema }: Options): Route[] {
  const own: Route[] = [
    {
      method: 'GET',
      path: '/version',
      doc: { summary: 'Service, version and start time', reply: versionSchema },
      handle: (exchange) => sendJson(exchange, { status: 200, body: JSON.stringify(version) }),
    },
    {
      method: 'GET',
      path: '/openapi.json',
      doc: { summary: 'This document' },
      handle: (exchange) =>
        sendJson(exchange, {
          status: 200,
          body: JSON.stringify(toOpenApi({ routes: [...routes, ...own], version, errorSchema })),
        }),
    },
  ];
  return own;
}

const text = { type: 'string' } as const;
const versionSchema = {
  type: 'object',
  required: ['service', 'version', 'channel', 'sha', 'started_at', 'node'],
  properties: {
    service: text,
    version: text,
    channel: text,
    sha: text,
    started_at: { type: 'integer', description: 'Epoch ms' },
    node: text,
  },
} as const;

/** The OpenAPI document of a connector, generated from its routes. */
function toOpenApi({ routes, version, errorSchema = {} }: Options): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)$/, '{$1}').replace(/\*$/, '{path}');
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
  const name = path.endsWith('/*') ? 'path' : /:(\w+)$/.exec(path)?.[1];
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
