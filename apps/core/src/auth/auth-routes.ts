import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import { loginCookies, originOf, writeLoginCookie } from './login-cookie.ts';
import type { LoginSession, LoginSessions, LoginTokens } from './login-sessions.ts';
import type { SetUp } from './set-up.ts';
import type { SignIn } from './sign-in.ts';

const name = { type: 'string', minLength: 1, maxLength: 64, pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$' } as const;
const password = { type: 'string', minLength: 1, maxLength: 1024 } as const;
const code = { type: 'string', minLength: 1, maxLength: 64 } as const;
const body = <P extends Record<string, object>, R extends readonly (keyof P & string)[]>(properties: P, required: R) =>
  ({ type: 'object', additionalProperties: false, properties, required }) as const;
const accountBody = body({ name, password }, ['name', 'password'] as const);
const signInBody = body({ name, password, code }, ['name', 'password', 'code'] as const);
const codeBody = body({ code }, ['code'] as const);
/** `strict`: the header's token must have come, too. */
const verifyQuery = { type: 'object', properties: { strict: { enum: ['true', 'false'], default: 'false' } } } as const;

type Deps = {
  db: Database;
  auth: { setUp: SetUp; signIn: SignIn; sessions: LoginSessions };
  /** Makes who signs in the owner, on the channel of those who do. */
  linkLogin(): Promise<void>;
};

const notSignedIn = () => new ServiceError('unauthorized', 'Nobody is signed in here. Sign in.');
const one = (value: string | string[] | undefined): string => (typeof value === 'string' ? value : '');
const setupToken = ({ headers }: FastifyRequest): string => one(headers['x-setup-token']);
const deviceOf = ({ headers }: FastifyRequest): string => (headers['user-agent'] ?? 'a program without a name').slice(0, 256);

/** `/v2/auth/*`: the login of the operator (docs/login.md). */
export function mountAuthRoutes(app: App, { db, auth: { setUp, signIn, sessions }, linkLogin }: Deps): void {
  const find = async ({ headers }: FastifyRequest, withHeader: boolean): Promise<LoginSession> => {
    for (const cookie of loginCookies(headers)) {
      const session = await sessions.find(cookie, withHeader ? one(headers['x-session-token']) : null);
      if (session !== null) return session;
    }
    throw notSignedIn();
  };

  /** Both tokens, each to its own place. The answer is kept in no cache. */
  const give = (request: FastifyRequest, reply: FastifyReply, { cookie, header }: LoginTokens) => {
    void reply.header('set-cookie', writeLoginCookie(originOf(request.headers), cookie)).header('cache-control', 'no-store');
    return { ok: true, session_token: header };
  };

  app.get('/v2/auth/setup', async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    return { ok: true, ...(await setUp.state(setupToken(request))) };
  });

  app.post('/v2/auth/setup/account', { schema: { body: accountBody } }, async (request, reply) => {
    originOf(request.headers);
    void reply.header('cache-control', 'no-store');
    return { ok: true, ...(await setUp.account(setupToken(request), request.body.name, request.body.password)) };
  });

  app.post('/v2/auth/setup/totp', { schema: { body: codeBody } }, async (request) => {
    originOf(request.headers);
    return { ok: true, ...(await setUp.totp(setupToken(request), request.body.code)) };
  });

  app.post('/v2/auth/setup/recovery-codes', async (request, reply) => {
    originOf(request.headers);
    void reply.header('cache-control', 'no-store');
    return { ok: true, recovery_codes: await setUp.recoveryCodes(setupToken(request)) };
  });

  app.post('/v2/auth/setup/finish', { schema: { body: codeBody } }, async (request, reply) => {
    originOf(request.headers);
    const tokens = await setUp.finish(setupToken(request), request.body.code, deviceOf(request));
    await linkLogin();
    return give(request, reply, tokens);
  });

  app.post('/v2/auth/login', { schema: { body: signInBody } }, async (request, reply) => {
    originOf(request.headers);
    return give(request, reply, await signIn.signIn(request.body, deviceOf(request)));
  });

  app.post('/v2/auth/step-up', { schema: { body: codeBody } }, async (request, reply) => {
    originOf(request.headers);
    const session = await find(request, true);
    return give(request, reply, await signIn.stepUp(session, request.body.code));
  });

  app.post('/v2/auth/logout', async (request, reply) => {
    const origin = originOf(request.headers);
    await sessions.end(db, (await find(request, true)).id);
    void reply.header('set-cookie', writeLoginCookie(origin, ''));
    return { ok: true };
  });

  app.get('/v2/auth/verify', { schema: { querystring: verifyQuery } }, async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    const session = await find(request, request.query.strict === 'true');
    const account = await signIn.account();
    if (account === undefined) throw notSignedIn();
    void reply.header('remote-user', account.name).header('remote-groups', 'owner');
    return { ok: true, user: account.name, session };
  });

  app.get('/v2/auth/sessions', async (request) => {
    const { id } = await find(request, true);
    return { current: id, sessions: await sessions.list() };
  });

  app.delete<{ Params: { id: string } }>('/v2/auth/sessions/:id', async (request) => {
    originOf(request.headers);
    await find(request, true);
    if (!(await sessions.end(db, request.params.id))) throw notFound('session', request.params.id);
    return { ok: true };
  });
}
