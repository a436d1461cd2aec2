import { tiers } from '@svc/contract/trust.ts';
import { maxSecretLength, vaultNamePattern } from '@svc/contract/vault.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { refuseSecret } from '@svc/service-kit/redaction/refuse-secret.ts';
import type { VaultContext } from '../context.ts';

const name = { type: 'string', pattern: vaultNamePattern } as const;
const putBody = {
  type: 'object',
  required: ['name', 'value', 'min_trust'],
  additionalProperties: false,
  properties: { name, value: { type: 'string', minLength: 1, maxLength: maxSecretLength }, min_trust: { enum: tiers } },
} as const;
const byName = { type: 'object', required: ['name'], properties: { name } } as const;

/** These routes take values but never return them: agents read them with a token. */
export function mountCredentialRoutes(
  app: App,
  { credentials, adminAuth }: Pick<VaultContext, 'credentials' | 'adminAuth'>,
): void {
  app.post('/v1/credentials', { onRequest: adminAuth, schema: { body: putBody } }, async ({ body }) => {
    refuseSecret(body.name, 'name');
    return { ok: true, credential: await credentials.put(body.name, body.value, body.min_trust) };
  });
  app.get('/v1/credentials', { onRequest: adminAuth }, async () => ({ credentials: await credentials.list() }));
  app.delete('/v1/credentials/:name', { onRequest: adminAuth, schema: { params: byName } }, async ({ params }) => {
    await credentials.remove(params.name);
    return { ok: true, name: params.name };
  });
}
