import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { keyBytes } from './aead.ts';

const derive = promisify(argon2);

/** How a passphrase becomes a key: argon2id, memory in KiB, salt in base64. */
export type KdfParameters = { memory: number; passes: number; parallelism: number; salt: string };

export type KdfCost = Omit<KdfParameters, 'salt'>;

const base: KdfCost = { memory: 128 * 1024, passes: 3, parallelism: 1 };
/** A guess must take at least 250 ms; the rest is a reserve, because the machine may be less busy later. */
const wantedMs = 400;
const mostPasses = 64;

/** The key of a passphrase. The text is normalized, so that every system on which it is typed gives the same key. */
export async function passphraseKey(passphrase: string, { salt, ...cost }: KdfParameters): Promise<Buffer> {
  const message = Buffer.from(passphrase.normalize('NFKC'));
  try {
    return await derive('argon2id', { ...cost, message, nonce: Buffer.from(salt, 'base64'), tagLength: keyBytes });
  } finally {
    message.fill(0);
  }
}

export const newSalt = (): string => randomBytes(16).toString('base64');

/** The number of passes that makes a guess slow enough on this machine. */
export async function calibrateCost(now: () => number = () => performance.now()): Promise<KdfCost> {
  const begun = now();
  await passphraseKey('a trial', { ...base, salt: newSalt() });
  const tookMs = Math.max(now() - begun, 1);
  const passes = Math.ceil((base.passes * wantedMs) / tookMs);
  return { ...base, passes: Math.min(Math.max(passes, base.passes), mostPasses) };
}
