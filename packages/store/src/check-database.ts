import { statSync } from 'node:fs';
import { readingMark, type Findings } from './check-protocol.ts';
import { readByProcess, type ReadOptions, type StartedReader } from './database-reader.ts';
import type { SqliteDatabase } from './open-sqlite.ts';

/** Late enough not to slow down the start. */
const afterMs = 60_000;
/** A database of several GB takes longer. The daily backup and `svc doctor` read it instead. */
const timeoutMs = 60_000;

type Timer = { after(ms: number, fn: () => void): () => void };

/**
 * Calls `onDamage` once, with a message, when a database turns out to be damaged. Either a statement finds the damage, or a
 * check some time after the start. The returned function cancels that check.
 */
export function watchDamage(db: SqliteDatabase, clock: Timer, onDamage: (message: string) => void): () => void {
  void db.damaged.then(({ message }) => onDamage(message));
  return checkLater(db, clock);
}

/** Checks a whole database once and reports damage. The returned function cancels the check. */
function checkLater(db: SqliteDatabase, clock: Timer): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const report = (checked: CheckedDatabase) => {
    if (checked !== 'unfinished' && checked.isDamaged) db.reportDamage(checked.fault ?? '');
  };
  const givenUp = (error: unknown) => {
    if (!signal.aborted) throw error;
  };
  const cancel = clock.after(afterMs, () => void checkDatabase(db.file, { timeoutMs, signal }).then(report).catch(givenUp));
  return () => {
    cancel();
    stop.abort();
  };
}

/** The findings about a database, or `unfinished` when the check took too long. */
export type CheckedDatabase = Findings | 'unfinished';

/** How a failed process ended, or why it did not start. */
type Failure = { killed?: boolean; code?: number | string | null; signal?: NodeJS.Signals | null; stdout?: string };

/**
 * Reads a whole database in a separate process, because that takes a while and a damaged file must not harm this process. It
 * finds what violates SQLite's file format, but not a value that was changed into another valid one.
 */
export async function checkDatabase(file: string, options: ReadOptions): Promise<CheckedDatabase> {
  try {
    const [found] = findingsIn(await readByProcess([file], options));
    return found ?? withoutFindings({});
  } catch (error) {
    options.signal?.throwIfAborted();
    return withoutFindings(error as Failure);
  }
}

/** Files of up to this size together are read by a single process, which is faster than starting several. */
const smallBytes = 32 * 1024 * 1024;

/** Like `checkDatabase`, for several files; the results are in their order. `started`: the reader of the small ones. */
export async function checkDatabases(
  files: readonly string[],
  options: ReadOptions,
  started: StartedReader | null = null,
): Promise<CheckedDatabase[]> {
  const small = files.filter((file) => sizeOf(file) <= smallBytes / files.length);
  const readTogether = readSmall(small, options, started);
  return Promise.all(
    files.map(async (file) => (small.includes(file) ? (await readTogether).get(file) : null) ?? checkDatabase(file, options)),
  );
}

/** The results of the files that were read completely. A file that ends the process has none, and neither do those after it. */
async function readSmall(
  files: readonly string[],
  options: ReadOptions,
  started: StartedReader | null,
): Promise<Map<string, Findings>> {
  const reading = started !== null ? started.read(files) : files.length > 1 ? readByProcess(files, options) : Promise.resolve('');
  const stdout = await reading.catch((error: Failure) => error.stdout ?? '');
  return new Map(findingsIn(stdout).flatMap((found, at) => (files[at] === undefined ? [] : [[files[at], found] as const])));
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const findingsIn = (stdout: string): Findings[] =>
  stdout
    .split(readingMark)
    .filter((line) => line.endsWith('\n'))
    .map((line) => JSON.parse(line) as Findings);

/** Only an invalid memory access in SQLite points to the file. Otherwise memory or processes may have run out. */
function withoutFindings({ killed, code, signal, stdout = '' }: Failure): CheckedDatabase {
  if (killed === true) return 'unfinished';
  if (stdout.startsWith(readingMark) && (signal === 'SIGSEGV' || signal === 'SIGBUS')) {
    return { fault: `reading it crashed the process (${signal})`, isDamaged: true, newest: '', isLogTorn: false };
  }
  const how = signal ?? (typeof code === 'number' ? `exit code ${code}` : (code ?? 'no answer'));
  return { fault: `the process that was to read it failed (${how})`, isDamaged: false, newest: '', isLogTorn: false };
}
