import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { isLive, type Clock } from './clock.ts';
import { makePrivateDir, writeFileAtomic, readIfThere } from './files.ts';

const lifeMs = 15 * 60_000;
const fileOf = (run: string): string => path.join(run, 'login-setup.json');

/** The stored form of a link, without its token. `resets`: it may replace an existing account. */
export type SetupLink = { hash: string; expires_at: number; resets: boolean };

/** SHA-256 is enough, because the token itself is random and long. */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');

export const newToken = (): string => randomBytes(32).toString('base64url');

/**
 * Creates the only valid link, for 15 minutes, and returns its token, whose prefix the masking recognizes. It requires write
 * access to the data folder: no route does this.
 */
export function makeSetupLink(run: string, clock: Clock, resets: boolean): string {
  const token = `svcl_${newToken()}`;
  const link: SetupLink = { hash: tokenHash(token), expires_at: clock.now() + lifeMs, resets };
  makePrivateDir(run);
  writeFileAtomic(fileOf(run), JSON.stringify(link));
  return token;
}

/** The currently valid link, if this is its token. */
export function findSetupLink(run: string, token: string, clock: Clock): SetupLink | null {
  const link = readLink(run);
  return link !== null && link.hash === tokenHash(token) && isLive(link.expires_at, lifeMs, clock.now()) ? link : null;
}

/** When the currently valid link expires, epoch ms; null when there is none. */
export function setupLinkEnd(run: string, clock: Clock): number | null {
  const link = readLink(run);
  return link !== null && isLive(link.expires_at, lifeMs, clock.now()) ? link.expires_at : null;
}

export const dropSetupLink = (run: string): void => rmSync(fileOf(run), { force: true });

function readLink(run: string): SetupLink | null {
  const text = readIfThere(fileOf(run));
  return text === null ? null : (JSON.parse(text) as SetupLink); // only this module writes it, atomically
}
