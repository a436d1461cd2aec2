import type { SecretMaskAnswer } from '@svc/contract/secret-mask.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { createBearerAuth } from '@svc/service-kit/http/bearer-auth.ts';
import { type App, mountScope } from '@svc/service-kit/http/create-app.ts';
import { readOwnJson } from '@svc/service-kit/json/read-json.ts';
import { jsonInTurns } from '@svc/service-kit/json/write-steps.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { ConnectorSecrets } from './connector-secrets.ts';

const learnBody = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: { type: 'string', minLength: 1, maxLength: 1024 } },
} as const;

/** The size of a whole answer of the collector. */
const maxMaskedBytes = 32 * 1024 * 1024;

type Deps = { connectorSecrets: ConnectorSecrets; knownSecrets: KnownSecrets; settings: Pick<CoreSettings, 'insightsToken'> };

/** For other processes of the service: they report secrets and have texts masked, and never get a value. */
export function mountSecretRoutes(app: App, { connectorSecrets, knownSecrets, settings }: Deps): void {
  // Called by the manager with the name of a secret that a connector is about to get.
  app.post('/v2/secrets/learn', { schema: { body: learnBody } }, async ({ body }) => {
    await connectorSecrets.learn(body.name);
    return { ok: true };
  });

  mountScope(app, (scope) => mountMask(scope, { knownSecrets, settings }));
}

/** For the collector and the manager: masks what they show with the secrets that only this process knows. */
function mountMask(app: App, { knownSecrets, settings }: Pick<Deps, 'knownSecrets' | 'settings'>): void {
  // Only the texts are used, so no field name can do harm.
  app.takeJson({ isChecked: false });
  const onRequest = createBearerAuth(settings.insightsToken, 'SVC_INSIGHTS_TOKEN');
  const options = { onRequest, bodyLimit: maxMaskedBytes };
  app.post<{ Body: unknown }>('/v2/secrets/mask', options, async ({ body }): Promise<SecretMaskAnswer> => {
    const json = await jsonInTurns(body ?? null);
    const masked = await knownSecrets.mask.longJsonText(json);
    if (masked === json) return { masked: false };
    return { masked: true, value: await readOwnJson(masked) };
  });
}
