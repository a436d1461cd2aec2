import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';

/** Describes an unpacked archive, which has no git. `commit`: of its sources. `platform`: such as `linux-x64`. */
export type ReleaseInfo = {
  version: string;
  commit: string;
  platform: string;
  /** The address of newer archives; null if unknown. */
  archives: string | null;
};

/** In the top folder of a release archive. */
export const releaseFile = '.release.json';

/** The release file of the archive in `root`; null for a clone, and for an unreadable file. */
export function readReleaseInfo(root: string): ReleaseInfo | null {
  try {
    return toReleaseInfo(readFileSync(path.join(root, releaseFile), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Parses a release file; null when the text is something else. */
export function toReleaseInfo(text: string): ReleaseInfo | null {
  const found = parseJsonOrNull(text);
  const { version, commit, platform, archives } = isRecord(found) ? found : {};
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+$/.test(version)) return null;
  if (typeof commit !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return null;
  if (typeof platform !== 'string' || !/^[a-z0-9]+-[a-z0-9]+$/.test(platform)) return null;
  return { version, commit, platform, archives: typeof archives === 'string' ? archives : null };
}

/** The name of an archive without its extension, which is also the name of the folder in it. */
export const archiveName = (version: string, platform: string): string => `assistant-gateway-${version}-${platform}`;

/** The names and digests of all files of a release, as sha256sum(1) writes them, and the signature of that file. */
export const sumsFile = 'SHA256SUMS';
export const signatureFile = `${sumsFile}.sig`;

/** The namespace of ssh-keygen(1) for signatures of the sums: a signature of a git tag or of any other file is invalid. */
export const signatureNamespace = 'svc-release';
