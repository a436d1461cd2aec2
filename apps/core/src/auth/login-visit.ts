import type { FastifyReply, FastifyRequest } from 'fastify';
import { isProofFresh, type LoginSession, type SignedIn } from '@svc/contract/auth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { cookiesOf, originOf, writeCookie } from './login-cookie.ts';
import type { LoginSessions, LoginTokens } from './login-sessions.ts';

export const notSignedIn = () => new ServiceError('unauthorized', 'You are not signed in, or your session has expired. Sign in.');
export const oneHeader = (value: string | string[] | undefined): string => (typeof value === 'string' ? value : '');

/** Reads the login's tokens from requests, and writes them into replies. */
export interface LoginVisit {
  /** The session of a request. `withHeader`: requires both tokens. @throws ServiceError `unauthorized` */
  find(request: FastifyRequest, withHeader: boolean): Promise<LoginSession>;
  /** The session of a request with both tokens, from our own page. @throws ServiceError `bad_origin`, `unauthorized` */
  own(request: FastifyRequest): Promise<LoginSession>;
  /** The same, with a second factor that was proven within the last ten minutes. @throws ServiceError `forbidden` with `step_up` */
  proven(request: FastifyRequest): Promise<LoginSession>;
  /** Writes the tokens to their places. The answer must not be cached. */
  give(request: FastifyRequest, reply: FastifyReply, tokens: LoginTokens & { deviceCookie?: string }): SignedIn;
}

export function createLoginVisit(sessions: LoginSessions, clock: Clock): LoginVisit {
  const find: LoginVisit['find'] = async ({ headers }, withHeader) => {
    // A server on another port of this host can plant more cookies of this name, so only a few are checked.
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
  if (isProofFresh(provenAt, clock.now())) return;
  const message = 'This needs your second factor again: you last confirmed it more than ten minutes ago.';
  throw new ServiceError('forbidden', message, { details: { step_up: true } });
}
