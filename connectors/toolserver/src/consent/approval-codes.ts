import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** What a code allows. `clientId`: only this client may use it. `invited`: the person for whom the client will act. */
export type CodePurpose = { clientId?: string; invited?: Invited };
/** An invitation of the core, and the key of the person that it is for. */
export type Invited = { invitation: string; principal: string | null };
/** `worn_out`: too many wrong codes were entered on this page, which accepts no more. */
export type Taken = { outcome: 'good'; invited?: Invited } | { outcome: 'wrong' | 'worn_out' };

/** Codes by which the operator of this machine signs in on the consent page: each once, for ten minutes. */
export type ApprovalCodes = {
  /** A new code replaces an unused one. */
  issue(purpose?: CodePurpose): { code: string; expiresInMs: number };
  /**
   * Takes a code that was typed: it counts once. Wrong ones are counted for each page, so that strangers cannot use up the operator's: of
   * 39 bits, in ten minutes, nobody guesses one.
   */
  take(typed: string, at: { page: string; clientId: string }): Taken;
};

/** Without letters and digits that look alike. */
const alphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const length = 8;
const lifeMs = 10 * 60_000;
const maxWrong = 5;
/** Pages whose wrong codes are counted; the oldest is forgotten first. */
const maxPages = 10_000;

type OpenCode = CodePurpose & { digest: Buffer; expiresAt: number };

export function createApprovalCodes(clock: Pick<Clock, 'elapsed'>): ApprovalCodes {
  let open: OpenCode | null = null;
  const wrong = new Map<string, number>();

  const isGood = (typed: string, clientId: string, code: OpenCode): boolean =>
    clock.elapsed() < code.expiresAt &&
    timingSafeEqual(digest(plain(typed)), code.digest) &&
    (code.clientId === undefined || code.clientId === clientId);

  function countWrong(page: string): 'wrong' | 'worn_out' {
    const count = (wrong.get(page) ?? 0) + 1;
    wrong.set(page, count);
    forgetOldest(wrong, maxPages);
    return count < maxWrong ? 'wrong' : 'worn_out';
  }

  return {
    issue(purpose = {}) {
      const code = Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
      open = { ...purpose, digest: digest(code), expiresAt: clock.elapsed() + lifeMs };
      return { code: `${code.slice(0, 4)}-${code.slice(4)}`, expiresInMs: lifeMs };
    },
    take(typed, { page, clientId }) {
      if ((wrong.get(page) ?? 0) >= maxWrong) return { outcome: 'worn_out' };
      if (open === null || !isGood(typed, clientId, open)) return { outcome: countWrong(page) };
      const { invited } = open;
      open = null;
      wrong.delete(page);
      return { outcome: 'good', ...(invited !== undefined && { invited }) };
    },
  };
}

const plain = (typed: string): string => typed.toUpperCase().replace(/[^A-Z0-9]/g, '');
const digest = (code: string): Buffer => hash('sha256', code, 'buffer');
