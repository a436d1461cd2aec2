import { execFile } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
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

/** What the process says before it opens the file. */
export const readingMark = 'reading\n';

const run = promisify(execFile);
const program = path.join(import.meta.dirname, 'check-database-process.ts');

/**
 * `fault`: what is wrong, null when nothing is; `isDamaged`: it is wrong in the file itself; `newest`: the newest migration, of
 * an immutable one.
 */
export type CheckedDatabase = { fault: string | null; isDamaged: boolean; newest: string } | 'unfinished';

/** `immutable`: nobody has it open, and nothing beside it is touched. `reader`: the program that reads it. */
type CheckOptions = { timeoutMs: number; immutable?: boolean; signal?: AbortSignal; reader?: string };

/** How a process ended that did not do its work, or why it did not start. */
type Failure = { killed?: boolean; code?: number | string | null; signal?: NodeJS.Signals | null; stdout?: string };

/**
 * Has a database read to its end by a process of its own: it takes a while, and whatever is wrong with the file does not
 * get near this process. Finds what is not a database of SQLite any more, not a value that was altered into another value.
 */
export async function checkDatabase(
  file: string,
  { timeoutMs, immutable = false, signal, reader = program }: CheckOptions,
): Promise<CheckedDatabase> {
  const args = ['--max-old-space-size=256', reader, file, immutable ? 'immutable' : 'shared'];
  try {
    const { stdout } = await run(process.execPath, args, {
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      env: compileCache(),
      signal,
    });
    return JSON.parse(stdout.slice(readingMark.length)) as CheckedDatabase;
  } catch (error) {
    signal?.throwIfAborted();
    return withoutFindings(error as Failure);
  }
}

/** Where Node keeps what it has compiled: without it that process takes longer to start than to read a small file. */
function compileCache(): Record<string, string> {
  // The folder of this very Node is below the one that is set.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(folder) };
}

/** Of all the ways for it to end only a bad memory access in SQLite points to the file: memory or processes may have run out. */
function withoutFindings({ killed, code, signal, stdout = '' }: Failure): CheckedDatabase {
  if (killed === true) return 'unfinished';
  if (stdout.startsWith(readingMark) && (signal === 'SIGSEGV' || signal === 'SIGBUS')) {
    return { fault: `it ended the process that read it (${signal})`, isDamaged: true, newest: '' };
  }
  const how = signal ?? (typeof code === 'number' ? `exit code ${code}` : (code ?? 'no answer'));
  return { fault: `the process that reads it failed (${how})`, isDamaged: false, newest: '' };
}
