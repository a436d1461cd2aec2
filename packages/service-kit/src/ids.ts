import { randomBytes } from 'node:crypto';

/** Ids as a dependency. They sort by creation time and are safe in paths, logs and JSON. */
export type Ids = { next(prefix: string): string };

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
let pool = Buffer.alloc(0);
let used = 0;

/** Ten random characters (50 bits) from a pool, so that an id costs no system call of its own. */
function randomPart(): string {
  if (used + 10 > pool.length) {
    pool = randomBytes(1000);
    used = 0;
  }
  let out = '';
  for (let i = 0; i < 10; i++) out += alphabet[pool[used++]! & 31];
  return out;
}

/** `turn_01k9…`: prefix, nine characters of time, ten random ones. */
export const randomIds: Ids = {
  next: (prefix) => `${prefix}_${Date.now().toString(32).padStart(9, '0')}${randomPart()}`,
};
