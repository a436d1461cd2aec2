import type { FastifyReply, FastifyRequest } from 'fastify';
import { type LoginSession, proofLastsMs, type SignedIn } from '@svc/contract/auth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { cookiesOf, originOf, writeCookie } from './login-cookie.ts';
import type { LoginSessions, LoginTokens } from './login-sessions.ts';

export const notSignedIn = () => new ServiceError('unauthorized', 'Nobody is signed in here. Sign in.');
export const oneHeader = (value: string | string[] | undefined): string => (typeof value === 'string' ? value : '');

/** What the routes of the login ask of a request, and give back. */
export interface LoginVisit {
  /** Who is signed in there. `withHeader`: by both tokens. @throws ServiceError `unauthorized` */
  find(request: FastifyRequest, withHeader: boolean): Promise<LoginSession>;
  /** By both tokens, from our own page. @throws ServiceError `bad_origin`, `unauthorized` */
  own(request: FastifyRequest): Promise<LoginSession>;
  /** The same with a second factor of the last ten minutes. @throws ServiceError `forbidden` with `step_up` */
  proven(request: FastifyRequest): Promise<LoginSession>;
  /** Each token to its own place. The answer is kept in no cache. */
  give(request: FastifyRequest, reply: FastifyReply, tokens: LoginTokens & { deviceCookie?: string }): SignedIn;
}

export function createLoginVisit(sessions: LoginSessions, clock: Clock): LoginVisit {
  const find: LoginVisit['find'] = async ({ headers }, withHeader) => {
    // A server on another port of this host can plant more cookies of the name: a few are looked at.
    for (const cookie of cookiesOf('login', headers).slice(0, 8)) {
      const session = await sessions.find(cookie, withHeader ? oneHeader(headers['x-session-token']) : null);
      if (session !== null) return session;
    }
    throw notSignedIn();
  };
  const own: LoginVisit['own'] = (request) => {
    originOf(request.headers);
    return find(request, true);
  };

  return {
    find,
    own,
    async proven(request) {
      const session = await own(request);
      requireProof(session, clock);
      return session;
    },
    give({ headers }, reply, { cookie, header, deviceCookie }) {
      const origin = originOf(headers);
      const cookies = [writeCookie('login', origin, cookie)];
      if (deviceCookie !== undefined) cookies.push(writeCookie('device', origin, deviceCookie));
      void reply.header('set-cookie', cookies).header('cache-control', 'no-store');
      return { ok: true, session_token: header };
    },
  };
}

/** @throws ServiceError `forbidden` with `step_up` */
export function requireProof({ proven_at: provenAt }: LoginSession, clock: Clock): void {
  const now = clock.now();
  if (Math.abs(now - provenAt) <= proofLastsMs) return; // one from the future was made while the clock was ahead
  const message = 'This needs your second factor again: the last confirmation is older than ten minutes.';
  throw new ServiceError('forbidden', message, { details: { step_up: true } });
}
