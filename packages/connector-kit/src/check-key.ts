import { hash, timingSafeEqual } from 'node:crypto';
import { ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { Exchange } from './http/exchange.ts';
import type { Caller, KeysFile } from './keys-file.ts';
import type { Throttle } from './throttle.ts';

/** Keys of this length cannot be guessed, so a flood of wrong keys need not block them. */
const unguessableLength = 32;

/**
 * Finds the caller of a request's bearer key. Throws `unauthorized`; `busy` with `retry_after_s` after too many bad keys; or `unavailable`
 * while the keys file admits nobody: the key may be valid, so this does not count as an attempt.
 *
 * An attempt is counted before its key is checked, and taken back when the key is valid. While the limit is exceeded, a short key is not
 * checked at all, valid or not: otherwise the limit would not slow guessing. A long key is still checked: behind a reverse proxy all
 * callers share one address, and a stranger's flood must not lock them out.
 */
export function checkKey({ req, remote }: Exchange, keys: KeysFile, throttle: Throttle): Caller {
  const key = bearerOf(req.headers.authorization);
  if (key === null) throw new ServiceError('unauthorized', 'Send your key as "Authorization: Bearer <key>".');
  const problem = keys.problem();
  if (problem !== null) throw unavailable(problem);
  const waitS = throttle.attempt(remote);
  const caller = waitS > 0 && key.length < unguessableLength ? null : keys.find(key);
  if (caller !== null) {
    throttle.forgive(remote);
    return caller;
  }
  if (waitS > 0) {
    throw new ServiceError('busy', 'Too many requests with a wrong key. Wait before you try again.', {
      details: { retry_after_s: waitS },
    });
  }
  throw new ServiceError('unauthorized', 'This key is invalid or was revoked.');
}

/** The token of an Authorization header; null when it is missing or has another scheme. */
export function bearerOf(header: string | undefined): string | null {
  const match = header === undefined ? null : /^bearer +(\S+) *$/i.exec(header);
  return match?.[1] ?? null;
}

/** The only key of a channel with a single caller, for `checkKey`. Accepts a header's bytes as Node passes them (latin1). */
export function singleKeyAuth(value: string, caller: Caller): KeysFile {
  const known = digest(Buffer.from(value));
  return {
    find: (key) => (timingSafeEqual(digest(Buffer.from(key, 'latin1')), known) ? caller : null),
    problem: () => null,
  };
}

/** The same length for every text, so that the comparison time reveals nothing. */
const digest = (key: Buffer): Buffer => hash('sha256', key, 'buffer');
