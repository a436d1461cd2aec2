import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext } from './connector.ts';
import { parseKeys } from './parse-keys.ts';

export type Caller = { identity: string; username: string };

export type KeysFile = {
  /** Who a key belongs to; null for nobody. Takes the bytes of a header as Node gives them (latin1). */
  find(key: string): Caller | null;
  /** Null while the file is good, else what is wrong with it. */
  problem(): string | null;
};

type Options = { file: string; clock: Clock; log: StartContext['log'] };

/** How long a removed key may live on, ms. */
const recheckMs = 1_000;
const maxFileBytes = 4 * 1024 * 1024;

/**
 * Keys of callers, from `{ keys: [{ key, identity, username }] }`. Only digests are kept, and looked up by digest, so
 * time says nothing about a key. The file is looked at again when it is used, at most once a second; one that cannot be
 * read or understood lets nobody in.
 */
export function createKeysFile({ file, clock, log }: Options): KeysFile {
  let callers = new Map<string, Caller>();
  let problem: string | null = null;
  let seen = '';
  let checkedAt = Number.NEGATIVE_INFINITY;

  function refresh(): void {
    const now = clock.elapsed();
    if (now - checkedAt < recheckMs) return;
    checkedAt = now;
    const version = versionOf(file);
    if (version === seen) return;
    seen = version;
    load();
  }

  function load(): void {
    const before = problem;
    try {
      const stats = statSync(file, { throwIfNoEntry: false });
      if (stats === undefined) throw new Error('it does not exist');
      if (!stats.isFile()) throw new Error('it is not a file');
      if (stats.size > maxFileBytes) throw new Error(`it is larger than ${maxFileBytes} bytes`);
      if ((stats.mode & 0o077) !== 0) log('warn', 'the keys file can be read by others; set its mode to 0600', { file });
      callers = new Map(parseKeys(readFileSync(file, 'utf8')).map(({ key, ...caller }) => [digest(Buffer.from(key)), caller]));
      problem = null;
      log('info', 'keys read', { file, keys: callers.size });
    } catch (error) {
      callers = new Map();
      // The system's own message names the path, and the problem is shown to anyone who asks for the health.
      const { code } = error as NodeJS.ErrnoException;
      problem = `The keys file lets nobody in: ${code === undefined ? errorText(error) : `it cannot be read (${code})`}.`;
      // A fault of the system may pass without a change of the file.
      if (code !== undefined) seen = '';
      if (problem !== before) log('error', problem, { file });
    }
  }

  return {
    find(key) {
      refresh();
      return callers.get(digest(Buffer.from(key, 'latin1'))) ?? null;
    },
    problem() {
      refresh();
      return problem;
    },
  };
}

/** Changes with the file: the inode's own time also shows a new mode, and a copy that kept its date. */
function versionOf(file: string): string {
  try {
    const { ino, size, ctimeMs } = statSync(file);
    return `${ino} ${size} ${ctimeMs}`;
  } catch (error) {
    return errorText(error); // reported when it is read
  }
}

const digest = (key: Buffer): string => hash('sha256', key, 'hex');
