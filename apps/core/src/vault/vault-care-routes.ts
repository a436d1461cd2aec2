import { maxPassphraseLength, type VaultAccess, type VaultRotated } from '@svc/contract/vault.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import type { RecordChange } from '../trust/record-change.ts';
import type { VaultLink } from './vault-link.ts';

const passphrase = { type: 'string', minLength: 1, maxLength: maxPassphraseLength } as const;
const changeBody = {
  type: 'object',
  required: ['passphrase', 'new_passphrase'],
  additionalProperties: false,
  properties: { passphrase, new_passphrase: passphrase },
} as const;
const bodyLimit = 64 * 1024;

/** The keys, the passphrase and the access record of the vault. */
export function mountVaultCareRoutes(app: App, { vault, record }: { vault: VaultLink; record: RecordChange }): void {
  const done = (actor: string, what: 'vault_rotated' | 'vault_passphrase_changed') =>
    record({ actor, what, principal: null, before: null, after: null });

  app.post('/v2/vault/rotate', async ({ actor }): Promise<VaultRotated> => {
    const { generation, rewrapped } = await vault.admin().rotate();
    await done(actor, 'vault_rotated');
    return { ok: true, generation, rewrapped };
  });

  app.post('/v2/vault/passphrase', { schema: { body: changeBody }, bodyLimit }, async ({ body, actor }) => {
    await vault.admin().changePassphrase(new Secret(body.passphrase), new Secret(body.new_passphrase));
    await done(actor, 'vault_passphrase_changed');
    return { ok: true };
  });

  app.get<{ Querystring: Record<string, string> }>('/v2/vault/access', async ({ query }): Promise<{ access: VaultAccess[] }> => {
    const limit = queryInteger('limit', query['limit'], 100, 1, 1000);
    const before = queryInteger('before', query['before'], Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER);
    return { access: await vault.admin().access(limit, before) };
  });
}
