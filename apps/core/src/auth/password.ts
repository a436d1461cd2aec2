import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { badRequest } from '@svc/service-kit/service-error.ts';

const derive = promisify(argon2);
/** 19 MiB and two passes, as OWASP recommends; about 60 ms on Node's thread pool. Memory in KiB. */
const cost = { memory: 19 * 1024, passes: 2, parallelism: 1 };
const tagLength = 32;
const phcForm = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;
const shortest = 12;
/** In zxcvbn's estimate: the number of guesses that an attacker with the stored hash could make in some months. */
const fewestGuesses = 1e9;
/** Longer passwords take long to rate, so only their beginning is rated. */
const longestJudged = 72;

const plain = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
const phc = (salt: Buffer, tag: Buffer): string =>
  `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${plain(salt)}$${plain(tag)}`;

const tagOf = (password: string, nonce: Buffer, parameters: typeof cost): Promise<Buffer> =>
  derive('argon2id', { ...parameters, message: Buffer.from(password.normalize('NFKC')), nonce, tagLength });

/** The password as it is stored: argon2id in the PHC form. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const tag = await tagOf(password, salt, cost);
  return phc(salt, tag);
}

/** Replaces the hash of an account that does not exist. No password matches it, and checking one takes as long as for a real account. */
export const impossiblePassword = phc(Buffer.alloc(16), Buffer.alloc(tagLength));

/** @throws Error when the stored text is not in the PHC form. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, tag] = phcForm.exec(stored) ?? [];
  if (salt === undefined || tag === undefined) throw new Error('The stored password is damaged.');
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const expected = Buffer.from(tag, 'base64');
  const found = await tagOf(password, Buffer.from(salt, 'base64'), parameters);
  return found.length === expected.length && timingSafeEqual(found, expected);
}

/**
 * Loads zxcvbn only for a new password: its lists take some megabytes.
 * @throws ServiceError `bad_request` for a password that is easily guessed
 */
export async function checkNewPassword(password: string, name: string): Promise<void> {
  if (password.length < shortest) throw badRequest(`The password is too short. Use at least ${shortest} characters.`);
  if (password.toLowerCase().includes(name.toLowerCase()))
    throw badRequest('The password contains your name. Choose one that cannot be guessed from it.');
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const words = [...name.split(/\s+/), 'assistant', 'gateway', 'password'];
  const estimate = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs }).check(password.slice(0, longestJudged), words);
  if (estimate.guesses < fewestGuesses)
    throw badRequest('This password is common or follows a pattern. Use several words, or let a password manager generate one.');
}
