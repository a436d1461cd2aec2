import { tiers } from '@svc/contract/trust.ts';
import type { VaultAgentRegistered } from '@svc/contract/vault.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { VaultContext } from '../context.ts';

const name = { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' } as const;
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
  app.delete('/v1/agents/:name', { onRequest: adminAuth, schema: { params: byName } }, async ({ params }) => ({
    ok: true,
    agent: await agents.revoke(params.name),
  }));
}
