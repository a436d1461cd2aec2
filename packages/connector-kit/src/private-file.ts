import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { draftOf, writeFileAtomic } from '@svc/service-kit/files.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText, unavailable } from '@svc/service-kit/service-error.ts';
import type { StartContext } from './connector.ts';

export type PrivateFile<Value> = {
  /** What the file says; `empty` while it says nothing that can be used. */
  read(): Value;
  /** The same, though it was looked at a moment ago: what is changed and written again must be what is there. */
  readNow(): Value;
  /** Puts a text in its place, which says `value`. @throws what the disk says */
  write(text: string, value: Value): void;
  /** Null while the file is good, else what is wrong with it. */
  problem(): string | null;
};

type Options<Value> = {
  file: string;
  /** As people call it: "keys file". */
  name: string;
  /** @throws Error that says what is wrong, without quoting what is in the file. */
  parse: (text: string) => Value;
  /** Lets nobody in. */
  empty: Value;
  /** No file is as good as an empty one. */
  mayBeMissing?: boolean;
  /** A link in the place of the file is refused: it could lead to the file of another. */
  refusesLinks?: boolean;
  /** One that others can read lets nobody in; else it is only warned about. */
  mustBePrivate?: boolean;
  /** What is to stand there in place of the text that was read, as for a secret that must not stay; null leaves it. */
  rewrite?: (value: Value) => string | null;
  clock: Clock;
  log: StartContext['log'];
};

/** How long what was removed may live on, ms. */
const recheckMs = 1_000;
const maxFileBytes = 4 * 1024 * 1024;

/**
 * A file in which the operator says who gets in. It is looked at again when it is used, at most once a second; one that cannot be read or
 * understood lets nobody in.
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
      // The system's own message names the path, and the problem is shown to anyone who asks for the health.
      const { code } = error as NodeJS.ErrnoException;
      problem = `The ${name} lets nobody in: ${code === undefined ? errorText(error) : `it cannot be read (${code})`}.`;
      // A fault of the system may pass without a change of the file.
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

/** Outside of its own folder a connector makes none. */
function makeFolderOf({ file, name }: Pick<Options<unknown>, 'file' | 'name'>): void {
  const folder = path.dirname(file);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    throw unavailable(`The ${name} cannot be written: the folder ${folder} does not exist. Create it first.`);
  }
}

/** Null where there is no file and need not be one. */
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

/** Without waiting: a pipe in the place of the file would hold up the whole process. Null when nothing is there. */
function open(file: string, flags: number): number | null {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
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
