import { totpBody } from '@svc/contract/auth.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { AuthenticatorApp } from './authenticator-app.ts';
import type { LoginVisit } from './login-visit.ts';

type Deps = { visit: LoginVisit; authenticatorApp: AuthenticatorApp };

/** `/v2/auth/totp*`: the authenticator app of a login that is set up (docs/login.md). */
export function mountAuthenticatorAppRoutes(app: App, { visit, authenticatorApp }: Deps): void {
  app.get('/v2/auth/totp', async (request) => {
    await visit.find(request, true);
    return { is_set: await authenticatorApp.isSet() };
  });

  app.post('/v2/auth/totp/key', async (request, reply) => {
    await visit.proven(request);
    void reply.header('cache-control', 'no-store');
    return { ok: true, ...(await authenticatorApp.begin()) };
  });

  app.post('/v2/auth/totp', { schema: { body: totpBody } }, async (request) => {
    await authenticatorApp.confirm(await visit.proven(request), request.body.id, request.body.code);
    return { ok: true };
  });

  app.delete('/v2/auth/totp', async (request) => {
    await authenticatorApp.remove(await visit.proven(request));
    return { ok: true };
  });
}
