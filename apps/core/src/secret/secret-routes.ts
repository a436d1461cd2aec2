import type { App } from '@svc/service-kit/http/create-app.ts';
import type { CoreContext } from '../context.ts';

const learnBody = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: { type: 'string', minLength: 1, maxLength: 1024 } },
} as const;

/** For the manager: says by name, never by value, which secret a connector is about to get. */
export function mountSecretRoutes(app: App, { connectorSecrets }: Pick<CoreContext, 'connectorSecrets'>): void {
  app.post('/v2/secrets/learn', { schema: { body: learnBody } }, async ({ body }) => {
    await connectorSecrets.learn(body.name);
    return { ok: true };
  });
}
