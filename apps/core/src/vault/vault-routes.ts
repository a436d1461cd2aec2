import { tiers } from '@svc/contract/trust.ts';
import { maxPassphraseLength, maxSecretLength, vaultNamePattern, type VaultSecretStored } from '@svc/contract/vault.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { refusePlaceholder } from '@svc/service-kit/redaction/placeholder.ts';
import { refuseSecret } from '@svc/service-kit/redaction/refuse-secret.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { RecordChange } from '../trust/record-change.ts';
import { refuseServiceName } from './refuse-service-name.ts';
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
const passphraseBody = {
  type: 'object',
  required: ['passphrase'],
  additionalProperties: false,
  properties: { passphrase: { type: 'string', minLength: 1, maxLength: maxPassphraseLength } },
} as const;

/** The largest body: a value of the maximum length with every character escaped, and its name. */
const bodyLimit = 512 * 1024;

type Deps = {
  vault: VaultLink;
  secrets: Secrets;
  knownSecrets: KnownSecrets;
  settings: Parameters<typeof refuseServiceName>[1];
  record: RecordChange;
};

/** `/v2/vault` (spec: Core). Values and passphrases are only accepted here, never returned. */
export function mountVaultRoutes(app: App, { vault, secrets, knownSecrets, settings, record }: Deps): void {
  app.get('/v2/vault/status', () => vault.status());

  app.post(
    '/v2/vault/secrets',
    { schema: { body: secretBody }, bodyLimit },
    async ({ body, actor }): Promise<VaultSecretStored> => {
      const { name, min_trust } = body;
      refuseSecret(name, 'name');
      refuseServiceName(name, settings);
      refusePlaceholder(body.value, 'value');
      const value = new Secret(body.value);
      knownSecrets.learn([body.value]);
      const isInVault = await vault.store(name, value, min_trust);
      const stored = isInVault
        ? ({ stored_in: 'vault', min_trust } as const)
        : { stored_in: await secrets.put(name, value), min_trust: null };
      await record({ actor, what: 'secret_set', principal: null, before: null, after: { name, ...stored } });
      return { ok: true, name, ...stored };
    },
  );

  app.post('/v2/vault/unseal', { schema: { body: passphraseBody }, bodyLimit }, async ({ body, actor }) => {
    try {
      await vault.unseal(new Secret(body.passphrase));
    } catch (error) {
      // A wrong passphrase is recorded; an unavailable vault or a delayed attempt is not.
      if (error instanceof ServiceError && error.code === 'forbidden') await record(entry(actor, 'vault_unseal_refused'));
      throw error;
    }
    await record(entry(actor, 'vault_unsealed'));
    return vault.status();
  });

  app.post('/v2/vault/seal', async ({ actor }) => {
    await vault.seal();
    await record(entry(actor, 'vault_sealed'));
    return vault.status();
  });
}

const entry = (actor: string, what: 'vault_unsealed' | 'vault_unseal_refused' | 'vault_sealed') => ({
  actor,
  what,
  principal: null,
  before: null,
  after: null,
});
