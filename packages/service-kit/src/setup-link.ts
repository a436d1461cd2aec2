import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from './clock.ts';
import { makePrivateDir, writeFileAtomic, readIfThere } from './files.ts';

const lifeMs = 15 * 60_000;
const fileOf = (run: string): string => path.join(run, 'login-setup.json');

/** What is kept of a link: never its token. `resets`: it may replace the account that there is. */
export type SetupLink = { hash: string; expires_at: number; resets: boolean };

/** SHA-256 of a token that has enough bits of its own. */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');

export const newToken = (): string => randomBytes(32).toString('base64url');

/**
 * Makes the one link that is good from now on, for 15 minutes. Who may write into the data folder may do this: no route does.
 * Gives the token.
 */
export function makeSetupLink(run: string, clock: Clock, resets: boolean): string {
  const token = newToken();
  const link: SetupLink = { hash: tokenHash(token), expires_at: clock.now() + lifeMs, resets };
  makePrivateDir(run);
  writeFileAtomic(fileOf(run), JSON.stringify(link));
  return token;
}

/** The link that is good now, if this token is its. */
export function findSetupLink(run: string, token: string, clock: Clock): SetupLink | null {
  const link = readLink(run);
  return link !== null && link.hash === tokenHash(token) && clock.now() < link.expires_at ? link : null;
}

/** When the link that is good now ends, epoch ms; null when there is none. */
export function setupLinkEnd(run: string, clock: Clock): number | null {
  const link = readLink(run);
  return link !== null && clock.now() < link.expires_at ? link.expires_at : null;
}

export const dropSetupLink = (run: string): void => rmSync(fileOf(run), { force: true });

function readLink(run: string): SetupLink | null {
  const text = readIfThere(fileOf(run));
  return text === null ? null : (JSON.parse(text) as SetupLink); // only this module writes it, whole
}
