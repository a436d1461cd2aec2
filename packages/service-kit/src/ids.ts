import { randomBytes } from 'node:crypto';

/** Ids as a dependency. They sort by creation time; those of one process sort in exact order. Safe in paths, logs and JSON. */
export type Ids = { next(prefix: string): string };

const alphabet = Buffer.from('0123456789abcdefghjkmnpqrstvwxyz');
let pool = '';
let used = 0;
let time = 0;
let timePart = '';
let serial = 0;

/** Two characters for the order of ids within a millisecond. Beyond the last, only the order is lost. */
const serials = Array.from({ length: 1024 }, (_, n) => n.toString(32).padStart(2, '0'));

/** Eight random characters (40 bits) from a pool, because ids are too frequent to generate characters one by one. */
function randomPart(): string {
  if (used === pool.length) {
    pool = Buffer.from(randomBytes(1000).map((byte) => alphabet[byte & 31] ?? 0)).toString('latin1');
    used = 0;
  }
  return pool.slice(used, (used += 8));
}

/** `turn_01k9…`: prefix, nine characters of time, two of the order within it, eight random ones. */
export const randomIds: Ids = {
  next(prefix) {
    const now = Date.now();
    if (now !== time) {
      timePart = now.toString(32).padStart(9, '0');
      serial = 0;
    }
    time = now;
    return `${prefix}_${timePart}${serials[serial++] ?? serials.at(-1)}${randomPart()}`;
  },
};

/** When one of our ids was created, epoch ms; null for any other text. */
export function timeOfId(id: string): number | null {
  const time = /^[a-z]+_([0-9a-v]{9})[0-9a-z]{10}$/.exec(id)?.[1];
  return time === undefined ? null : Number.parseInt(time, 32);
}
