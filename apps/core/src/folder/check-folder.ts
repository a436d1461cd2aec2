import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';

/** `path`: the real path, with links resolved. `why` completes the sentence "The folder … cannot be used: ". */
export type FolderFinding = { ok: true; path: string } | { ok: false; why: string };

type Place = {
  dataDir: string;
  /** Also accepts the shared workspace of the data folder. */
  orWorkspace?: boolean;
  /** The identities of the data folder and its ancestors on the disk. */
  lineageOfData?: () => Promise<string[]>;
};

const maxBytes = 4096;
const refuse = (why: string): FolderFinding => ({ ok: false, why });

/**
 * Whether a turn may work in a folder. It has to be absolute, exist, and be separate from the service's own data: neither inside nor around
 * it. Folders are compared by their identity on the disk, so that no link, other spelling or second mount bypasses the check.
 */
export async function checkFolder(folder: string, place: Place): Promise<FolderFinding> {
  const { dataDir, orWorkspace = false, lineageOfData = () => lineageOf(dataDir) } = place;
  const badForm = formFault(folder);
  if (badForm !== null) return refuse(badForm);
  try {
    const real = await realpath(folder);
    if (!(await stat(real)).isDirectory()) return refuse('it is not a folder');
    await access(real, constants.R_OK | constants.X_OK);
    if (real === path.parse(real).root) return refuse('it is the root of the file system');
    if (orWorkspace && (await isSame(real, dataPaths(dataDir).workspace))) return { ok: true, path: real };
    const [own, data] = await Promise.all([lineage(real), lineageOfData()]);
    if (own.includes(data[0] ?? '')) return refuse("it lies in the service's data folder");
    if (data.includes(own[0] ?? '')) return refuse("the service's data folder lies in it");
    return { ok: true, path: real };
  } catch (error) {
    return refuse(faultOf((error as NodeJS.ErrnoException).code));
  }
}

/** The path with its links resolved; unchanged where nothing exists or a link cannot be followed. */
export const realPath = (folder: string): Promise<FolderFinding> =>
  realpath(folder).then(
    (real) => ({ ok: true, path: real }),
    () => ({ ok: true, path: folder }),
  );

/** The path as it is stored: without trailing or repeated slashes. */
export const tidyPath = (folder: string): string => folder.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');

function formFault(folder: string): string | null {
  if (!path.isAbsolute(folder)) return 'it is not an absolute path';
  // oxlint-disable-next-line no-control-regex -- it looks for them
  if (/[\u0000-\u001f\u007f]/.test(folder)) return 'its path has control characters';
  if (Buffer.byteLength(folder) > maxBytes) return `its path is longer than ${maxBytes} bytes`;
  // After a link, `..` leads elsewhere than it seems.
  if (folder.split('/').some((part) => part === '..' || part === '.')) return 'its path has "." or ".." in it';
  return null;
}

/** The lineage of a folder that does not move while the service runs, read again after a while. */
export function createLineage(folder: string, clock: Pick<Clock, 'elapsed'>): () => Promise<string[]> {
  let last: { at: number; found: Promise<string[]> } | null = null;
  return () => {
    const now = clock.elapsed();
    if (last !== null && now - last.at < lineageMs) return last.found;
    const read = { at: now, found: lineageOf(folder) };
    last = read;
    read.found.catch(() => {
      if (last === read) last = null;
    });
    return read.found;
  };
}

const lineageMs = 30_000;

const lineageOf = async (folder: string): Promise<string[]> => lineage(await realpath(folder));

/** The identities of a folder and its ancestors on the disk, up to the root. */
async function lineage(real: string): Promise<string[]> {
  const found: string[] = [];
  for (let at = real; ; at = path.dirname(at)) {
    found.push(await identityOf(at));
    if (at === path.dirname(at)) return found;
  }
}

async function identityOf(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  return `${dev}:${ino}`;
}

async function isSame(folder: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([identityOf(folder), identityOf(other).catch(() => null)]);
  return one === two;
}

const faults: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it is not a folder',
  EACCES: 'the service may not read it',
  EPERM: 'the service may not read it',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'a name in its path is too long',
};

const faultOf = (code: string | undefined): string => faults[code ?? ''] ?? `it cannot be read (${code ?? 'unknown'})`;
