import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import type { FastifyRequest } from 'fastify';
import { accountBody, codeBody, passkeyAddBody, passwordBody, signInBody } from '@svc/contract/auth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { notFound } from '@svc/service-kit/service-error.ts';
import { mountAuthenticatorAppRoutes } from './authenticator-app-routes.ts';
import { cookiesOf, originOf, writeCookie } from './login-cookie.ts';
import { createLoginVisit, notSignedIn, oneHeader } from './login-visit.ts';
import type { Auth } from './open-auth.ts';
import { mountPasskeyRoutes } from './passkey-routes.ts';
import type { Opener } from './set-up.ts';
import { visitorOf } from './visitor.ts';

/** `strict`: requires the header's token, too. */
const verifyQuery = { type: 'object', properties: { strict: { enum: ['true', 'false'], default: 'false' } } } as const;

type Deps = {
  auth: Auth;
  clock: Clock;
  /** Links the login to an owner; see `trust/link-login.ts`. */
  linkLogin(): Promise<void>;
};

const openerOf = ({ headers }: FastifyRequest): Opener => ({
  token: oneHeader(headers['x-setup-token']),
  setupCookies: cookiesOf('setup', headers),
});

/** `/v2/auth/*`: the login of the operator (docs/login.md). */
export function mountAuthRoutes(app: App, { auth, clock, linkLogin }: Deps): void {
  const { setUp, signIn, sessions, passkeys, authenticatorApp, endSession, makeCodes } = auth;
  const visit = createLoginVisit(sessions, clock);
  mountPasskeyRoutes(app, { visit, passkeys });
  mountAuthenticatorAppRoutes(app, { visit, authenticatorApp });

  app.get('/v2/auth/setup', async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    return { ok: true, ...(await setUp.state(openerOf(request))) };
  });

  app.post('/v2/auth/setup/account', { schema: { body: accountBody } }, async (request, reply) => {
    const origin = originOf(request.headers);
    const { state, browser } = await setUp.account(openerOf(request), request.body.name, request.body.password);
    void reply.header('set-cookie', writeCookie('setup', origin, browser)).header('cache-control', 'no-store');
    return { ok: true, ...state };
  });

  app.post('/v2/auth/setup/totp', { schema: { body: codeBody } }, async (request) => {
    originOf(request.headers);
    return { ok: true, ...(await setUp.totp(openerOf(request), request.body.code)) };
  });

  app.post('/v2/auth/setup/passkey/options', async (request) => ({
    ok: true,
    options: await setUp.passkeyOptions(openerOf(request), originOf(request.headers)),
  }));

  app.post('/v2/auth/setup/passkey', { schema: { body: passkeyAddBody } }, async (request) => {
    const { name, response } = request.body;
    const added = response as unknown as RegistrationResponseJSON;
    return { ok: true, ...(await setUp.passkey(openerOf(request), originOf(request.headers), name, added)) };
  });

  app.post('/v2/auth/setup/recovery-codes', async (request, reply) => {
    originOf(request.headers);
    void reply.header('cache-control', 'no-store');
    return { ok: true, recovery_codes: await setUp.recoveryCodes(openerOf(request)) };
  });

  app.post('/v2/auth/setup/finish', { schema: { body: codeBody } }, async (request, reply) => {
    const entry = await setUp.finish(openerOf(request), request.body.code, visitorOf(request.headers));
    await linkLogin();
    return visit.give(request, reply, entry);
  });

  app.post('/v2/auth/login', { schema: { body: signInBody } }, async (request, reply) =>
    visit.give(request, reply, await signIn.signIn(request.body, visitorOf(request.headers))),
  );

  app.post('/v2/auth/step-up', { schema: { body: codeBody } }, async (request, reply) =>
    visit.give(request, reply, await signIn.stepUp(await visit.own(request), request.body.code)),
  );

  app.post('/v2/auth/password', { schema: { body: passwordBody } }, async (request) => {
    await signIn.changePassword(await visit.proven(request), request.body.password, request.body.new_password);
    return { ok: true };
  });

  app.post('/v2/auth/recovery-codes', async (request, reply) => {
    const session = await visit.proven(request);
    void reply.header('cache-control', 'no-store');
    return { ok: true, recovery_codes: await makeCodes(session) };
  });

  app.post('/v2/auth/logout', async (request, reply) => {
    const session = await visit.own(request);
    await endSession(session.id, session);
    void reply.header('set-cookie', writeCookie('login', originOf(request.headers), ''));
    return { ok: true };
  });

  app.get('/v2/auth/verify', { schema: { querystring: verifyQuery } }, async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    const session = await visit.find(request, request.query.strict === 'true');
    const account = await signIn.account();
    if (account === undefined) throw notSignedIn();
    void reply.header('remote-user', account.name).header('remote-groups', 'owner');
    return { ok: true, user: account.name, session };
  });

  app.get('/v2/auth/sessions', async (request) => {
    const { id } = await visit.find(request, true);
    return { current: id, sessions: await sessions.list() };
  });

  app.delete<{ Params: { id: string } }>('/v2/auth/sessions/:id', async (request) => {
    const session = await visit.own(request);
    if (!(await endSession(request.params.id, session))) throw notFound('session', request.params.id);
    return { ok: true };
  });
}
