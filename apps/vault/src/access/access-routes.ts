import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { VaultContext } from '../context.ts';

/** The access log: names and outcomes, never a value. */
export function mountAccessRoutes(
  app: App,
  { accessLog, keyring, adminAuth }: Pick<VaultContext, 'accessLog' | 'keyring' | 'adminAuth'>,
): void {
  app.get('/v1/access', { onRequest: adminAuth }, async ({ query }) => {
    keyring.assertOpen();
    const { limit, before } = query as Record<string, unknown>;
    const newest = Number.MAX_SAFE_INTEGER;
    return {
      access: await accessLog.list(queryInteger('limit', limit, 100, 1, 1000), queryInteger('before', before, newest, 0, newest)),
    };
  });
}
