import { sendJson, type Route } from '@svc/connector-kit';
import { scope } from './create-provider.ts';
import { mcpPath, oauthPaths } from './oauth-paths.ts';

/** What this resource is and who gives tokens for it (RFC 9728), at both places where clients look. */
export function createMetadataRoutes(origin: () => string, assistantName: string, open: Route['open']): Route[] {
  const body = () =>
    JSON.stringify({
      resource: `${origin()}${mcpPath}`,
      authorization_servers: [origin()],
      scopes_supported: [scope],
      bearer_methods_supported: ['header'],
      resource_name: assistantName,
    });
  return [oauthPaths.resourceMetadata, `${oauthPaths.resourceMetadata}${mcpPath}`].map((path): Route => ({
    method: 'GET',
    path,
    doc: { summary: 'What this server is, for OAuth clients' },
    ...(open !== undefined && { open }),
    handle: (exchange) => sendJson(exchange, { status: 200, headers: { 'cache-control': 'no-store' }, body: body() }),
  }));
}
