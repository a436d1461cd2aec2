import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { VersionInfo } from '@svc/contract/service.ts';
import { readReleaseInfo } from './update/release-info.ts';

/**
 * What runs: the version file, and the git revision on disk when the process started (for an archive, the one it names; else
 * `unknown`). The channel may change while the process runs, so it is read each time.
 */
export function readVersion(root: string, service: string, channelNow: () => string): VersionInfo {
  return {
    service,
    version: versionOf(root),
    get channel() {
      return channelNow();
    },
    sha: headRevision(root) ?? readReleaseInfo(root)?.commit ?? 'unknown',
    started_at: Date.now(),
    node: process.versions.node,
  };
}

/** The version file at the root. */
export const versionOf = (root: string): string => readFileSync(path.join(root, 'VERSION'), 'utf8').trim();

/** Reads `.git` itself, because a git process would cost more than the whole start of a connector. */
function headRevision(root: string): string | null {
  const gitDir = gitDirectory(root);
  if (gitDir === null) return null;
  const head = readText(path.join(gitDir, 'HEAD'));
  if (head === null) return null;
  const ref = /^ref: (.+)$/.exec(head)?.[1];
  if (ref === undefined) return head;
  const common = readText(path.join(gitDir, 'commondir'));
  const refsDir = common === null ? gitDir : path.resolve(gitDir, common);
  return readText(path.join(refsDir, ref)) ?? packedRevision(refsDir, ref);
}

function gitDirectory(root: string): string | null {
  const dotGit = path.join(root, '.git');
  const link = readText(dotGit);
  if (link === null) return readText(path.join(dotGit, 'HEAD')) === null ? null : dotGit;
  const target = /^gitdir: (.+)$/.exec(link)?.[1];
  return target === undefined ? null : path.resolve(root, target);
}

function packedRevision(refsDir: string, ref: string): string | null {
  const lines = readText(path.join(refsDir, 'packed-refs'))?.split('\n') ?? [];
  return lines.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0] ?? null;
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null; // absent, or a folder: the caller looks elsewhere
  }
}

/** True when `version` comes after `than`. A pre-release (`-beta`) is never newer. */
export function isNewer(version: string, than: string): boolean {
  if (version.includes('-')) return false;
  const [a, b] = [parts(version), parts(than)];
  const differs = a.findIndex((part, place) => part !== b[place]);
  // With the same three numbers it is newer only than a pre-release.
  if (differs === -1) return than.includes('-');
  return (a[differs] ?? 0) > (b[differs] ?? 0);
}

const parts = (version: string): number[] => version.split('-')[0]!.split('.').map(Number);
