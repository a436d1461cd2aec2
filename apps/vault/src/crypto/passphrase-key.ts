import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { keyBytes } from './aead.ts';

const derive = promisify(argon2);

/** How a passphrase becomes a key: argon2id, memory in KiB, salt in base64. */
export type KdfParameters = { memory: number; passes: number; parallelism: number; salt: string };

export type KdfCost = Omit<KdfParameters, 'salt'>;

const base: KdfCost = { memory: 128 * 1024, passes: 3, parallelism: 1 };
/** A guess must cost at least 250 ms; the rest is reserve for a quiet moment of the machine. */
const wantedMs = 400;
const mostPasses = 64;

/** The key of a passphrase. The text is normalized, so that it does not matter on which system it was typed. */
export async function passphraseKey(passphrase: string, { salt, ...cost }: KdfParameters): Promise<Buffer> {
  const message = Buffer.from(passphrase.normalize('NFKC'));
  try {
    return await derive('argon2id', { ...cost, message, nonce: Buffer.from(salt, 'base64'), tagLength: keyBytes });
  } finally {
    message.fill(0);
  }
}

export const newSalt = (): string => randomBytes(16).toString('base64');

/** As many passes as this machine needs to make a guess cost enough. */
export async function calibrateCost(now: () => number = () => performance.now()): Promise<KdfCost> {
  const begun = now();
  await passphraseKey('a trial', { ...base, salt: newSalt() });
  const tookMs = Math.max(now() - begun, 1);
  const passes = Math.ceil((base.passes * wantedMs) / tookMs);
  return { ...base, passes: Math.min(Math.max(passes, base.passes), mostPasses) };
}
