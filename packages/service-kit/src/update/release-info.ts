import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';

/** What an unpacked archive is, for there is no git to say so. `commit`: of its sources. `platform`: such as `linux-x64`. */
export type ReleaseInfo = {
  version: string;
  commit: string;
  platform: string;
  /** Where newer archives are, as an address; null when nobody said so. */
  archives: string | null;
};

/** In the top folder of a release archive. */
export const releaseFile = '.release.json';

/** What the archive in `root` says of itself; null for a clone, and for what cannot be read as such. */
export function readReleaseInfo(root: string): ReleaseInfo | null {
  try {
    return toReleaseInfo(readFileSync(path.join(root, releaseFile), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The text of a release file; null when it is something else. */
export function toReleaseInfo(text: string): ReleaseInfo | null {
  const found = parseJsonOrNull(text);
  const { version, commit, platform, archives } = isRecord(found) ? found : {};
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+$/.test(version)) return null;
  if (typeof commit !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return null;
  if (typeof platform !== 'string' || !/^[a-z0-9]+-[a-z0-9]+$/.test(platform)) return null;
  return { version, commit, platform, archives: typeof archives === 'string' ? archives : null };
}

/** The name of an archive, without what says how it is packed. It is also that of the folder in it. */
export const archiveName = (version: string, platform: string): string => `assistant-gateway-${version}-${platform}`;

/** Names and digests of all files of a release, as sha256sum(1) writes them; with a signature of that in the other file. */
export const sumsFile = 'SHA256SUMS';
export const signatureFile = `${sumsFile}.sig`;

/** What a signature of the sums is for, as ssh-keygen(1) has it: one of a git tag, or of a file of anybody, is invalid. */
export const signatureNamespace = 'svc-release';
