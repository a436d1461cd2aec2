import type { IncomingHttpHeaders } from 'node:http';
import { isProofFresh } from '@svc/contract/auth.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { needsSecondFactor } from '@svc/service-kit/http/second-factor.ts';
import { ServiceError, unavailable } from '@svc/service-kit/service-error.ts';

/** A signed-in person, according to the core. `provenAt`: when a second factor was last given, epoch ms. */
export type Login = { user: string; sessionId: string; provenAt: number };

/** Who makes a request. The core decides for each request: nothing is cached here that could outlive a sign-out. */
export interface Logins {
  /** Null when nobody is signed in. @throws ServiceError `unavailable` when the core does not answer */
  find(headers: IncomingHttpHeaders): Promise<Login | null>;
  /** @throws ServiceError `unauthorized` when nobody is signed in */
  require(headers: IncomingHttpHeaders): Promise<Login>;
  /** @throws ServiceError `forbidden` with `step_up` when the second factor was given too long ago */
  requireProof(login: Login, now: number): void;
}

const timeoutMs = 10_000;

type Verified = { user?: string; session?: { id: string; proven_at: number }; message?: string };

export function createLogins(coreUrl: string): Logins {
  const find = async ({ cookie, 'x-session-token': token }: IncomingHttpHeaders): Promise<Login | null> => {
    // Browsers send a cookie to every port of its host, so it proves nothing without the token.
    if (cookie === undefined || typeof token !== 'string') return null;
    const headers = { cookie, 'x-session-token': token };
    const answer = await requestJson<Verified>(`${coreUrl}/v2/auth/verify?strict=true`, { headers, timeoutMs }).catch(
      (error: unknown) => {
        throw unavailable('The core does not answer, so nobody can sign in. ./svc status shows why.', error);
      },
    );
    const { user, session, message } = answer.body;
    if (answer.status === 401) return null;
    if (answer.status !== 200 || user === undefined || session === undefined)
      throw unavailable(message ?? 'The core could not check your session. ./svc status shows why.');
    return { user, sessionId: session.id, provenAt: session.proven_at };
  };

  return {
    find,
    async require(headers) {
      const login = await find(headers);
      if (login === null) throw new ServiceError('unauthorized', 'You are not signed in, or your session has expired. Sign in.');
      return login;
    },
    requireProof({ provenAt }, now) {
      if (!isProofFresh(provenAt, now)) throw needsSecondFactor();
    },
  };
}
