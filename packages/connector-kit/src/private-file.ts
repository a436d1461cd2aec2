import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { draftOf, writeFileAtomic } from '@svc/service-kit/files.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText, unavailable } from '@svc/service-kit/service-error.ts';
import type { StartContext } from './connector.ts';

export type PrivateFile<Value> = {
  /** The content of the file; `empty` while it has no usable content. */
  read(): Value;
  /** The content as it is on disk now, without the cache: a change must be based on the current content. */
  readNow(): Value;
  /** Replaces the file with a text, whose parsed content is `value`. @throws the error of the file system */
  write(text: string, value: Value): void;
  /** Null while the file is valid, else what is wrong with it. */
  problem(): string | null;
};

type Options<Value> = {
  file: string;
  /** Name of the file in messages, such as "keys file". */
  name: string;
  /** @throws Error that says what is wrong without quoting the file. */
  parse: (text: string) => Value;
  /** The value that admits nobody. */
  empty: Value;
  /** A missing file counts as an empty one. */
  mayBeMissing?: boolean;
  /** A symbolic link in place of the file is refused: it could lead to someone else's file. */
  refusesLinks?: boolean;
  /** A file that others can read is not used at all; otherwise there is only a warning. */
  mustBePrivate?: boolean;
  /**
   * Text to write in place of the one that was read, for secrets that must not stay in the file; null leaves the file as it is.
   */
  rewrite?: (value: Value) => string | null;
  clock: Clock;
  log: StartContext['log'];
};

/** How long removed entries may still be used, ms. */
const recheckMs = 1_000;
const maxFileBytes = 4 * 1024 * 1024;

/**
 * A file in which the operator lists who is admitted. It is checked for changes when it is used, at most once a second. While
 * it cannot be read or parsed, nobody is admitted.
 */
export function openPrivateFile<Value>(options: Options<Value>): PrivateFile<Value> {
  const { file, name, parse, empty, rewrite = () => null, clock, log } = options;
  let value = empty;
  let problem: string | null = null;
  let seen = '';
  let checkedAt = Number.NEGATIVE_INFINITY;

  function refresh(): void {
    if (clock.elapsed() - checkedAt >= recheckMs) look();
  }

  function look(): void {
    checkedAt = clock.elapsed();
    const version = versionOf(file);
    if (version === seen) return;
    seen = version;
    load();
  }

  function load(): void {
    const before = problem;
    try {
      const text = readText(options);
      const found = text === null ? empty : parse(text);
      const better = rewrite(found);
      if (better !== null) put(better);
      value = found;
      problem = null;
      if (text !== null) log('info', `${name} read`, { file });
    } catch (error) {
      value = empty;
      // The system's own message contains the path, and the problem is shown to anyone who asks for the health.
      const { code } = error as NodeJS.ErrnoException;
      problem = `The ${name} lets nobody in: ${code === undefined ? errorText(error) : `it cannot be read (${code})`}.`;
      // A system error may pass without a change of the file.
      if (code !== undefined) seen = '';
      if (problem !== before) log('error', problem, { file });
    }
  }

  function put(text: string): void {
    const write = () => writeFileAtomic(file, text, draftOf(file));
    try {
      write();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      makeFolderOf(options);
      write();
    }
    seen = versionOf(file);
  }

  return {
    read() {
      refresh();
      return value;
    },
    readNow() {
      look();
      return value;
    },
    write(text, next) {
      put(text);
      value = next;
    },
    problem() {
      refresh();
      return problem;
    },
  };
}

/** A connector creates no folders outside of its own. */
function makeFolderOf({ file, name }: Pick<Options<unknown>, 'file' | 'name'>): void {
  const folder = path.dirname(file);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    throw unavailable(`The ${name} cannot be written: the folder ${folder} does not exist. Create it first.`);
  }
}

/** Null when the file is missing and may be. */
function readText({
  file,
  name,
  mayBeMissing = false,
  refusesLinks = false,
  mustBePrivate = false,
  log,
}: Omit<Options<unknown>, 'parse' | 'empty' | 'rewrite'>): string | null {
  const handle = open(file, refusesLinks ? constants.O_NOFOLLOW : 0);
  if (handle === null) {
    if (mayBeMissing) return null;
    throw new Error('it does not exist');
  }
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw new Error('it is not a file');
    if (stats.size > maxFileBytes) throw new Error(`it is larger than ${maxFileBytes} bytes`);
    if ((stats.mode & 0o077) !== 0) {
      if (mustBePrivate) throw new Error('others can read it; set its mode to 0600');
      log('warn', `the ${name} can be read by others; set its mode to 0600`, { file });
    }
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

/** Opened without blocking: a pipe in place of the file would block the whole process. Null when nothing is there. */
function open(file: string, flags: number): number | null {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Changes with the file: the inode's change time also reveals a new mode, and a copy that kept its date. */
function versionOf(file: string): string {
  try {
    const { ino, size, ctimeMs } = statSync(file);
    return `${ino} ${size} ${ctimeMs}`;
  } catch (error) {
    return errorText(error); // reported when it is read
  }
}
