import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@svc/service-kit/clock.ts';

/** Codes by which the operator of this machine signs in on the consent page: each once, for ten minutes. */
export type ApprovalCodes = {
  /** A new code takes the place of one that was not used. */
  issue(): { code: string; expiresInMs: number };
  /** Takes a code that was typed: it counts once. `worn_out`: too many were wrong, and the code is gone. */
  take(typed: string): 'good' | 'wrong' | 'worn_out';
};

/** Without letters and digits that look alike. */
const alphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const length = 8;
const lifeMs = 10 * 60_000;
const maxWrong = 5;

export function createApprovalCodes(clock: Pick<Clock, 'elapsed'>): ApprovalCodes {
  let open: { digest: Buffer; expiresAt: number; wrong: number } | null = null;
  return {
    issue() {
      const code = Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
      open = { digest: digest(code), expiresAt: clock.elapsed() + lifeMs, wrong: 0 };
      return { code: `${code.slice(0, 4)}-${code.slice(4)}`, expiresInMs: lifeMs };
    },
    take(typed) {
      if (open === null || clock.elapsed() >= open.expiresAt) return 'wrong';
      if (timingSafeEqual(digest(plain(typed)), open.digest)) {
        open = null;
        return 'good';
      }
      open.wrong++;
      if (open.wrong < maxWrong) return 'wrong';
      open = null;
      return 'worn_out';
    },
  };
}

const plain = (typed: string): string => typed.toUpperCase().replace(/[^A-Z0-9]/g, '');
const digest = (code: string): Buffer => hash('sha256', code, 'buffer');
