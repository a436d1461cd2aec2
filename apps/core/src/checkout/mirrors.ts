import { hash } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { makePrivateDir, ifThere } from '@svc/service-kit/files.ts';
import { folderBytes } from './folder-bytes.ts';
import { readFault, type GitFault } from './git-fault.ts';
import { runGit, type GitHome } from './run-git.ts';

export type FetchRequest = {
  /** The requester, credential and repository: mirrors are not shared between requesters with different access. */
  key: string;
  url: string;
  ref: string;
  /** The checkout's id, under which its commit is kept. */
  id: string;
  protocols: string;
  settings: readonly (readonly [string, string])[];
  timeoutMs: number;
};
export type Fetched = { ok: true; mirror: string; sha: string } | { ok: false; fault: GitFault };

/**
 * Bare repositories without history, shared by the checkouts of the same repository. The service runs git only in these, never in a folder
 * that an engine has worked in: its configuration could run programs, with credentials.
 */
export type Mirrors = {
  /** Must not run concurrently for the same key. */
  fetch(request: FetchRequest): Promise<Fetched>;
  /** Removes this key's mirrors that are not in `kept`. Must not run during a fetch for the key. */
  tidy(key: string, kept: ReadonlySet<string>): Promise<void>;
  folderOf(mirror: string): string;
  bytesOf(mirror: string): Promise<number>;
  /** Removes mirrors that are not in `kept`, as long as no fetch runs. */
  sweep(kept: ReadonlySet<string>, isIdle: () => boolean): Promise<void>;
};

type Deps = { folder: string; home: GitHome; maxBytes: number };

const pollMs = 200;
/**
 * Marks a mirror while git writes to it. A killed fetch may leave locks behind, so a mirror that still has the mark gets no new commits.
 */
const markName = 'svc-fetching';

export function createMirrors({ folder, home, maxBytes }: Deps): Mirrors {
  const folderOf = (mirror: string) => path.join(folder, mirror);

  const namesOf = async (key: string): Promise<string[]> =>
    (await ifThere(readdir(folder), [])).filter((one) => one.startsWith(`${nameOf(key)}.`));

  /** The newest mirror of this key, or a new one when that is damaged or full. */
  const choose = async (key: string): Promise<string> => {
    const last = Math.max(0, ...(await namesOf(key)).map(numberOf));
    const [name, newest] = [nameOf(key), `${nameOf(key)}.${last}`];
    const isUsable = !existsSync(path.join(folderOf(newest), markName)) && (await folderBytes(folderOf(newest))) < maxBytes;
    return isUsable ? newest : `${name}.${last + 1}`;
  };

  const prepare = async (mirror: string): Promise<GitFault | null> => {
    const dir = folderOf(mirror);
    if (existsSync(path.join(dir, 'HEAD'))) return null;
    makePrivateDir(folder);
    await rm(dir, { recursive: true, force: true });
    await mkdir(dir, { mode: 0o700 });
    const made = await runGit(['init', '--bare', '--quiet', '--template=', dir], { home, timeoutMs: 20_000 });
    return made.ending === 'ended' && made.code === 0 ? null : readFault(made);
  };

  return {
    folderOf,
    bytesOf: (mirror) => folderBytes(folderOf(mirror)),
    async fetch(request) {
      const mirror = await choose(request.key);
      const fault = await prepare(mirror);
      if (fault !== null) return { ok: false, fault };
      return fetchInto({ dir: folderOf(mirror), mirror, home, maxBytes }, request);
    },
    async tidy(key, kept) {
      for (const name of await namesOf(key)) if (!kept.has(name)) await rm(folderOf(name), { recursive: true, force: true });
    },
    async sweep(kept, isIdle) {
      const gone = `${folder}.gone`;
      await rm(gone, { recursive: true, force: true });
      for (const name of await ifThere(readdir(folder), [])) {
        if (!isIdle()) return;
        if (kept.has(name)) continue;
        makePrivateDir(gone);
        // An atomic rename in the same turn of the event loop, so that no fetch starts in a half-removed mirror.
        renameSync(folderOf(name), path.join(gone, name));
        await rm(gone, { recursive: true, force: true });
      }
    },
  };
}

const nameOf = (key: string): string => hash('sha256', key).slice(0, 32);
const numberOf = (name: string): number => Number(name.split('.').at(-1));

type Place = { dir: string; mirror: string; home: GitHome; maxBytes: number };

async function fetchInto({ dir, mirror, home, maxBytes }: Place, request: FetchRequest): Promise<Fetched> {
  const { url, ref, id, protocols, settings, timeoutMs } = request;
  const name = `refs/checkouts/${id}`;
  const mark = path.join(dir, markName);
  writeFileSync(mark, '');
  const limit = watchSize(dir, (await folderBytes(dir)) + maxBytes);
  const args = ['fetch', '--depth=1', '--no-tags', '--no-write-fetch-head', '--refmap=', '--quiet', '--end-of-options'];
  const end = await runGit([...args, url, `+${ref}:${name}`], {
    home,
    cwd: dir,
    timeoutMs,
    settings,
    protocols,
    stop: limit.signal,
  });
  limit.end();
  // Without an exit code, a signal has killed git, such as the kernel's when the machine has too little memory.
  if (end.ending !== 'ended' || end.code === null) {
    await removePartial(dir);
    return { ok: false, fault: limit.signal.aborted ? tooLarge(maxBytes) : readFault(end) };
  }
  await rm(mark, { force: true });
  if (end.code !== 0) return { ok: false, fault: readFault(end) };
  return readCommit({ dir, home }, name).then((read) => (typeof read === 'string' ? { ok: true, mirror, sha: read } : read));
}

/** The commit that a name refers to, also through an annotated tag. */
async function readCommit({ dir, home }: Pick<Place, 'dir' | 'home'>, name: string): Promise<string | (Fetched & { ok: false })> {
  let output = '';
  const end = await runGit(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], {
    home,
    cwd: dir,
    timeoutMs: 20_000,
    onOutput: (chunk) => (output += chunk.toString('latin1')),
  });
  const sha = /[0-9a-f]{40,64}/.exec(output)?.[0];
  if (end.ending === 'ended' && end.code === 0 && sha !== undefined) return sha;
  return { ok: false, fault: { why: 'no_ref', text: 'it is not a commit' } };
}

/** Aborts once the folder exceeds `bytes`: git has no limit for the size of a fetch. */
function watchSize(dir: string, bytes: number): { signal: AbortSignal; end(): void } {
  const control = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async () => {
    if ((await folderBytes(dir).catch(() => 0)) > bytes) return control.abort();
    if (!isOver) timer = setTimeout(() => void look(), pollMs);
  };
  timer = setTimeout(() => void look(), pollMs);
  return {
    signal: control.signal,
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** Removes the partial pack of a killed fetch. */
async function removePartial(dir: string): Promise<void> {
  const packs = path.join(dir, 'objects', 'pack');
  for (const name of await ifThere(readdir(packs), []))
    if (name.startsWith('tmp_')) await rm(path.join(packs, name), { force: true });
}

const tooLarge = (maxBytes: number): GitFault => ({
  why: 'too_large',
  text: `the download is larger than ${Math.floor(maxBytes / 2 ** 20)} MB (SVC_CHECKOUT_MAX_SIZE)`,
});
