import { tiers } from '@svc/contract/trust.ts';
import { maxSecretLength, vaultNamePattern, type VaultSecretStored } from '@svc/contract/vault.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { refusePlaceholder } from '@svc/service-kit/redaction/placeholder.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { VaultLink } from './vault-link.ts';

const secretBody = {
  type: 'object',
  required: ['name', 'value'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', pattern: vaultNamePattern },
    value: { type: 'string', minLength: 1, maxLength: maxSecretLength },
    min_trust: { enum: tiers, default: 'SACRED' },
  },
} as const;

/** `/v2/vault` (spec: Core). Values go in here and never come out. */
export function mountVaultRoutes(
  app: App,
  { vault, secrets, knownSecrets }: { vault: VaultLink; secrets: Secrets; knownSecrets: KnownSecrets },
): void {
  app.get('/v2/vault/status', () => vault.status());

  app.post('/v2/vault/secrets', { schema: { body: secretBody } }, async ({ body }): Promise<VaultSecretStored> => {
    const { name, min_trust } = body;
    refusePlaceholder(body.value, 'value');
    const value = new Secret(body.value);
    knownSecrets.learn([body.value]);
    if (await vault.store(name, value, min_trust)) return { ok: true, name, stored_in: 'vault', min_trust };
    return { ok: true, name, stored_in: await secrets.put(name, value), min_trust: null };
  });
}
