import type { IncomingHttpHeaders } from 'node:http';
import { localActor, tiers } from '@svc/contract/trust.ts';
import { vaultAgentNamePattern, type VaultAgentAdded, type VaultAgentList, type VaultAgentRemoved } from '@svc/contract/vault.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { requireSecondFactor } from '@svc/service-kit/http/second-factor.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { conflict, forbidden } from '@svc/service-kit/service-error.ts';
import type { RecordChange } from '../trust/record-change.ts';
import type { VaultLink } from './vault-link.ts';

const name = { type: 'string', pattern: vaultAgentNamePattern } as const;
const byName = { type: 'object', required: ['name'], properties: { name } } as const;
const agentBody = {
  type: 'object',
  required: ['name', 'tier'],
  additionalProperties: false,
  properties: { name, tier: { enum: tiers } },
} as const;

type Deps = {
  vault: Pick<VaultLink, 'admin'>;
  knownSecrets: Pick<KnownSecrets, 'learn'>;
  record: RecordChange;
  settings: Pick<CoreSettings, 'vaultUrl'>;
};

/** `/v2/vault/agents`: who may read secrets from the vault. */
export function mountVaultAgentRoutes(app: App, { vault, knownSecrets, record, settings }: Deps): void {
  app.get('/v2/vault/agents', async (): Promise<VaultAgentList> => {
    const [agents, own] = await Promise.all([vault.admin().agents(), vault.admin().self()]);
    return { agents, own: own?.name ?? null };
  });

  // Sent as bytes, which are not masked: the new key is a known secret at once, and only this answer has to show it.
  const config = { sendsBytes: 'the key of a reader that was just added, for who added it' };
  app.post('/v2/vault/agents', { schema: { body: agentBody }, config }, async (request, reply) => {
    requirePerson(request);
    const { agent, key } = await vault.admin().addAgent(request.body.name, request.body.tier);
    knownSecrets.learn([key.reveal()]);
    const after = { name: agent.name, tier: agent.tier };
    await record({ actor: request.actor, what: 'vault_agent_added', principal: null, before: null, after });
    const added: VaultAgentAdded = { ok: true, agent, key: key.reveal(), url: settings.vaultUrl ?? '' };
    void reply.header('cache-control', 'no-store').type('application/json; charset=utf-8');
    return reply.send(Buffer.from(JSON.stringify(added)));
  });

  app.delete('/v2/vault/agents/:name', { schema: { params: byName } }, async (request): Promise<VaultAgentRemoved> => {
    requirePerson(request);
    await refuseOwn(vault, request.params.name);
    const agent = await vault.admin().removeAgent(request.params.name);
    const before = { name: agent.name, tier: agent.tier };
    await record({ actor: request.actor, what: 'vault_agent_removed', principal: null, before, after: null });
    return { ok: true, agent };
  });
}

/**
 * A program that reaches the core could grant itself access to every secret, so this requires a signed-in person with a recent second
 * factor. Otherwise it takes the admin key, at the vault itself.
 */
function requirePerson(request: { actor: string; headers: IncomingHttpHeaders }): void {
  if (request.actor === localActor)
    throw forbidden(
      'Only a person who has signed in to the dashboard may change who reads secrets. In a terminal: ./svc vault agent',
    );
  requireSecondFactor(request);
}

async function refuseOwn(vault: Deps['vault'], asked: string): Promise<void> {
  const own = await vault.admin().self();
  if (own?.name !== asked) return;
  throw conflict(
    `The service itself asks the vault as "${asked}", and could read no secrets any more. Give it the key of another reader first: SVC_VAULT_AGENT_KEY in .env.`,
  );
}
