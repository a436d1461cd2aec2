import { apiKeyNamePattern } from '@svc/contract/api-key.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { ApiKeys } from './api-keys.ts';

const connector = { type: 'string', minLength: 1, maxLength: 128 } as const;
const query = { type: 'object', additionalProperties: false, properties: { connector } } as const;
const byName = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 256 } } } as const;
const keyBody = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', pattern: apiKeyNamePattern },
    for: { type: 'string', minLength: 1, maxLength: 256 },
    month_usd: { type: 'number', minimum: 0, maximum: 1e9 },
    connector,
  },
} as const;

/** `/v2/keys`: the keys of the chat completions API. */
export function mountApiKeyRoutes(app: App, { apiKeys }: { apiKeys: ApiKeys }): void {
  app.get<{ Querystring: { connector?: string } }>(
    '/v2/keys',
    { schema: { querystring: query } },
    ({ query: { connector: of } }) => apiKeys.list(of),
  );

  // Sent as bytes, which are not masked: the new key is a known secret at once, and only this answer has to show it.
  const config = { sendsBytes: 'a key that was just made, for who made it' };
  app.post('/v2/keys', { schema: { body: keyBody }, config }, async ({ body, actor }, reply) => {
    const created = await apiKeys.create(actor, body);
    void reply.header('cache-control', 'no-store').type('application/json; charset=utf-8');
    return reply.send(Buffer.from(JSON.stringify({ ok: true, ...created })));
  });

  app.delete<{ Params: { name: string }; Querystring: { connector?: string } }>(
    '/v2/keys/:name',
    { schema: { params: byName, querystring: query } },
    async ({ params, query: { connector: of }, actor }) => ({ ok: true, ...(await apiKeys.revoke(actor, params.name, of)) }),
  );
}
