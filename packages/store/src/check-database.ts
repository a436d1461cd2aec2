import { statSync } from 'node:fs';
import { readingMark, type Findings } from './check-protocol.ts';
import { readByProcess, type ReadOptions, type StartedReader } from './database-reader.ts';
import type { SqliteDatabase } from './open-sqlite.ts';

/** The start itself is not slowed, and neither is what follows it. */
const afterMs = 60_000;
/** One of several GB is read by the backup that comes every day, and by `svc doctor`. */
const timeoutMs = 60_000;

type Timer = { after(ms: number, fn: () => void): () => void };

/**
 * Calls `onDamage` once when a database turns out to be damaged, with what to say. A statement meets the damage, or the
 * check that comes a while after the start. The returned function gives that check up.
 */
export function watchDamage(db: SqliteDatabase, clock: Timer, onDamage: (message: string) => void): () => void {
  void db.damaged.then(({ message }) => onDamage(message));
  return checkLater(db, clock);
}

/** Has a database read to its end once, and reports what is wrong with it. The returned function gives that up. */
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

/** What is wrong with a database, where its reading came to an end in time. */
export type CheckedDatabase = Findings | 'unfinished';

/** How a process ended that did not do its work, or why it did not start. */
type Failure = { killed?: boolean; code?: number | string | null; signal?: NodeJS.Signals | null; stdout?: string };

/**
 * Has a database read to its end by a process of its own: it takes a while, and whatever is wrong with the file does not
 * get near this process. Finds what is not a database of SQLite any more, not a value that was altered into another value.
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

/** Up to this size together: one process reads these sooner than several start. */
const smallBytes = 32 * 1024 * 1024;

/** As `checkDatabase`, for several at once; the answers are in the order of the files. `started`: what reads the small ones. */
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

/** Those that were read to their end: when one ends the process, it and the ones behind it have no answer. */
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

/** Of all the ways for it to end only a bad memory access in SQLite points to the file: memory or processes may have run out. */
function withoutFindings({ killed, code, signal, stdout = '' }: Failure): CheckedDatabase {
  if (killed === true) return 'unfinished';
  if (stdout.startsWith(readingMark) && (signal === 'SIGSEGV' || signal === 'SIGBUS')) {
    return { fault: `it ended the process that read it (${signal})`, isDamaged: true, newest: '', isLogTorn: false };
  }
  const how = signal ?? (typeof code === 'number' ? `exit code ${code}` : (code ?? 'no answer'));
  return { fault: `the process that reads it failed (${how})`, isDamaged: false, newest: '', isLogTorn: false };
}
