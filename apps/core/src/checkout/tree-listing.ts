import { readFault, type GitFault } from './git-fault.ts';
import { runGit, type GitHome } from './run-git.ts';

export type TreeLimits = { files: number; bytes: number };
type Listing = { ok: true; bytes: number } | { ok: false; fault: GitFault };

/** The longest path in bytes: a deeper one could be created but not removed. */
const maxPath = 2000;
const maxEntry = maxPath + 200;
const longPath = `a path in it is longer than ${maxPath} bytes`;
const mb = (bytes: number) => Math.floor(bytes / 2 ** 20);

/** Counts the output of `git ls-tree -r -l -z` while it arrives. `fault`: the limit that is exceeded; null so far. */
export function createTreeCount(limits: TreeLimits): { take(chunk: Buffer): void; bytes(): number; fault(): string | null } {
  let rest = '';
  let files = 0;
  let bytes = 0;
  let fault: string | null = null;
  const takeEntry = (entry: string) => {
    files++;
    const size = Number(/^\d+ \w+ [0-9a-f]+ +(\d+|-)\t/.exec(entry)?.[1]);
    if (!Number.isNaN(size)) bytes += size;
    if (entry.length - entry.indexOf('\t') > maxPath) fault = longPath;
    if (files > limits.files) fault = `it has more than ${limits.files} files`;
    else if (bytes > limits.bytes) fault = `its files are larger than ${mb(limits.bytes)} MB (SVC_CHECKOUT_MAX_SIZE)`;
  };
  return {
    take(chunk) {
      if (fault !== null) return;
      const entries = (rest + chunk.toString('latin1')).split('\0');
      rest = entries.pop() ?? '';
      for (const entry of entries) if (fault === null) takeEntry(entry);
      if (rest.length > maxEntry) fault ??= longPath;
    },
    bytes: () => bytes,
    fault: () => fault,
  };
}

/** The size of a commit on the disk, before it is checked out: a small pack may contain huge numbers of files, or huge files. */
export async function listTree(commit: { dir: string; sha: string; home: GitHome }, limits: TreeLimits): Promise<Listing> {
  const control = new AbortController();
  const count = createTreeCount(limits);
  const end = await runGit(['ls-tree', '-r', '-l', '-z', '--full-tree', commit.sha], {
    home: commit.home,
    cwd: commit.dir,
    timeoutMs: 60_000,
    stop: control.signal,
    onOutput(chunk) {
      count.take(chunk);
      if (count.fault() !== null) control.abort();
    },
  });
  const text = count.fault();
  if (text !== null) return { ok: false, fault: { why: 'too_large', text } };
  if (end.ending !== 'ended' || end.code !== 0) return { ok: false, fault: readFault(end) };
  return { ok: true, bytes: count.bytes() };
}
