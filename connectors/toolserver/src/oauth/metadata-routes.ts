import { sendJson, type Route } from '@svc/connector-kit';
import { scope } from './what-is-granted.ts';
import { mcpPath, oauthPaths, ssePath } from './oauth-paths.ts';

/** What this resource is and who gives tokens for it (RFC 9728), at the places where clients look: they compare it with the address they were given. */
export function createMetadataRoutes(origin: () => string, assistantName: string, open: Route['open']): Route[] {
  const body = (resourcePath: string) =>
    JSON.stringify({
      resource: `${origin()}${resourcePath}`,
      authorization_servers: [origin()],
      scopes_supported: [scope],
      bearer_methods_supported: ['header'],
      resource_name: assistantName,
    });
  const root = oauthPaths.resourceMetadata;
  const places = [
    [root, mcpPath],
    [`${root}${mcpPath}`, mcpPath],
    [`${root}${ssePath}`, ssePath],
  ] as const;
  return places.map(([path, resourcePath]): Route => ({
    method: 'GET',
    path,
    doc: { summary: 'OAuth metadata of this server' },
    ...(open !== undefined && { open }),
    handle: (exchange) => sendJson(exchange, { status: 200, headers: { 'cache-control': 'no-store' }, body: body(resourcePath) }),
  }));
}
