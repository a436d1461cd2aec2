import { tiers } from '@svc/contract/trust.ts';
import { vaultAgentNamePattern, type VaultAgentRegistered } from '@svc/contract/vault.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import type { VaultContext } from '../context.ts';

const name = { type: 'string', pattern: vaultAgentNamePattern } as const;
const registerBody = {
  type: 'object',
  required: ['name', 'tier'],
  additionalProperties: false,
  properties: { name, tier: { enum: tiers } },
} as const;
const byName = { type: 'object', required: ['name'], properties: { name } } as const;

export function mountAgentRoutes(app: App, { agents, adminAuth }: Pick<VaultContext, 'agents' | 'adminAuth'>): void {
  app.post(
    '/v1/agents',
    { onRequest: adminAuth, schema: { body: registerBody } },
    async ({ body }): Promise<VaultAgentRegistered> => ({ ok: true, ...(await agents.register(body.name, body.tier)) }),
  );
  app.get('/v1/agents', { onRequest: adminAuth }, async () => ({ agents: await agents.list() }));
  app.get('/v1/agents/self', async ({ headers }) => ({ agent: await agents.authenticate(bearerOf(headers.authorization)) }));
  app.delete('/v1/agents/:name', { onRequest: adminAuth, schema: { params: byName } }, async ({ params }) => ({
    ok: true,
    agent: await agents.revoke(params.name),
  }));
}
