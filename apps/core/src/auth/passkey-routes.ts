import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { passkeyAddBody, passkeyProofBody, passkeyRenameBody } from '@svc/contract/auth.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { originOf } from './login-cookie.ts';
import type { LoginVisit } from './login-visit.ts';
import type { Passkeys } from './passkeys.ts';
import { visitorOf } from './visitor.ts';

type Deps = { visit: LoginVisit; passkeys: Passkeys };
type Named = { Params: { id: string } };
/** The schema has checked the parts that are read here; the library checks the rest. */
const added = (response: unknown) => response as RegistrationResponseJSON;
const proof = (response: unknown) => response as AuthenticationResponseJSON;

/** `/v2/auth/passkeys*`: signing in without a password (docs/login.md). */
export function mountPasskeyRoutes(app: App, { visit, passkeys }: Deps): void {
  app.get('/v2/auth/passkeys', async (request) => {
    await visit.find(request, true);
    return { passkeys: await passkeys.list() };
  });

  app.post('/v2/auth/passkeys/options', async (request) => {
    const session = await visit.proven(request);
    return { ok: true, options: await passkeys.addOptions(session, originOf(request.headers)) };
  });

  app.post('/v2/auth/passkeys', { schema: { body: passkeyAddBody } }, async (request) => {
    const session = await visit.proven(request);
    const { name, response } = request.body;
    return { ok: true, passkey: await passkeys.add(session, originOf(request.headers), name, added(response)) };
  });

  app.patch<Named & { Body: { name: string } }>(
    '/v2/auth/passkeys/:id',
    { schema: { body: passkeyRenameBody } },
    async (request) => {
      await visit.own(request);
      await passkeys.rename(request.params.id, request.body.name);
      return { ok: true };
    },
  );

  app.delete<Named>('/v2/auth/passkeys/:id', async (request) => {
    await passkeys.remove(request.params.id, await visit.proven(request));
    return { ok: true };
  });

  app.post('/v2/auth/login/passkey/options', async (request) => ({
    ok: true,
    options: await passkeys.signInOptions(originOf(request.headers)),
  }));

  app.post('/v2/auth/login/passkey', { schema: { body: passkeyProofBody } }, async (request, reply) =>
    visit.give(request, reply, await passkeys.signIn(visitorOf(request.headers), proof(request.body.response))),
  );

  app.post('/v2/auth/step-up/passkey/options', async (request) => {
    const session = await visit.own(request);
    return { ok: true, options: await passkeys.stepUpOptions(session, originOf(request.headers)) };
  });

  app.post('/v2/auth/step-up/passkey', { schema: { body: passkeyProofBody } }, async (request, reply) => {
    const session = await visit.own(request);
    return visit.give(request, reply, await passkeys.stepUp(session, originOf(request.headers), proof(request.body.response)));
  });
}
