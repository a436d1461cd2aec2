import { randomBytes } from 'node:crypto';
import { isLive, type Clock } from '@svc/service-kit/clock.ts';
import { tokenHash } from '@svc/service-kit/setup-link.ts';
import type { Database } from '@svc/store/database.ts';
import type { Seal } from './seal.ts';

const lifeMs = 5 * 60_000;

/** The purpose of a challenge; it is invalid for any other. */
export type ChallengeUse = 'sign-in' | `setup:${string}` | `add:${string}` | `step-up:${string}`;

/**
 * The texts that authenticators sign. A requested challenge is not stored: otherwise strangers could push out the owner's. Each contains its
 * expiry, is authenticated by our key, and works once.
 */
export interface PasskeyChallenges {
  make(use: ChallengeUse, host: string): Uint8Array<ArrayBuffer>;
  /** `challenge`: as the client returned it, base64url. */
  isGood(challenge: string, use: ChallengeUse, host: string): boolean;
  /** False when it was used before. */
  take(tx: Pick<Database, 'run'>, challenge: string): Promise<boolean>;
}

export function createPasskeyChallenges(seal: Seal, clock: Clock): PasskeyChallenges {
  const purposeOf = (use: ChallengeUse, host: string) => `challenge\n${use}\n${host}`;

  return {
    make(use, host) {
      const text = `${randomBytes(16).toString('base64url')}.${clock.now() + lifeMs}`;
      return new Uint8Array(Buffer.from(`${text}.${seal.mark(text, purposeOf(use, host))}`));
    },
    isGood(challenge, use, host) {
      const [nonce = '', end = '', mark = ''] = Buffer.from(challenge, 'base64url').toString().split('.');
      return seal.isMark(mark, `${nonce}.${end}`, purposeOf(use, host)) && isLive(Number(end), lifeMs, clock.now());
    },
    async take(tx, challenge) {
      await tx.run('DELETE FROM login_used_challenge WHERE expires_at <= ?', clock.now());
      const insert = 'INSERT INTO login_used_challenge (hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING';
      const bytes = Buffer.from(challenge, 'base64url').toString();
      return (await tx.run(insert, tokenHash(bytes), Number(bytes.split('.')[1]))) > 0;
    },
  };
}
