import { maxPassphraseLength, type VaultInitialized, type VaultRotated } from '@svc/contract/vault.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { VaultContext } from '../context.ts';

const passphrase = { type: 'string', minLength: 1, maxLength: maxPassphraseLength } as const;
const passphraseBody = {
  type: 'object',
  required: ['passphrase'],
  additionalProperties: false,
  properties: { passphrase },
} as const;
const changeBody = {
  type: 'object',
  required: ['passphrase', 'new_passphrase'],
  additionalProperties: false,
  properties: { passphrase, new_passphrase: passphrase },
} as const;

type Deps = Pick<VaultContext, 'lifecycle' | 'adminAuth' | 'settings'>;

/** Set-up, opening and closing. The first caller may set up a vault that has no admin key yet. */
export function mountSealRoutes(app: App, { lifecycle, adminAuth, settings }: Deps): void {
  app.get('/v1/status', () => lifecycle.state());

  const mayInit = settings.vaultAdminKey === null ? {} : { onRequest: adminAuth };
  app.post('/v1/init', { ...mayInit, schema: { body: passphraseBody } }, async ({ body }): Promise<VaultInitialized> => {
    return { ok: true, sealed: false, admin_key: await lifecycle.init(body.passphrase) };
  });

  app.post('/v1/unseal', { onRequest: adminAuth, schema: { body: passphraseBody } }, async ({ body }) => {
    await lifecycle.unseal(body.passphrase);
    return { ok: true, sealed: false };
  });

  app.post('/v1/seal', { onRequest: adminAuth }, async () => {
    await lifecycle.seal();
    return { ok: true, sealed: true };
  });

  app.post('/v1/rotate', { onRequest: adminAuth }, async (): Promise<VaultRotated> => {
    return { ok: true, ...(await lifecycle.rotate()) };
  });

  app.post('/v1/passphrase', { onRequest: adminAuth, schema: { body: changeBody } }, async ({ body }) => {
    await lifecycle.changePassphrase(body.passphrase, body.new_passphrase);
    return { ok: true };
  });
}
