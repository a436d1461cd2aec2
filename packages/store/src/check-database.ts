import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const program = path.join(import.meta.dirname, 'check-database-process.ts');

/**
 * `fault`: what is wrong, null when nothing is; `isDamaged`: it is wrong in the file itself; `newest`: the newest migration, of
 * an immutable one.
 */
export type CheckedDatabase = { fault: string | null; isDamaged: boolean; newest: string } | 'unfinished';

/** `immutable`: nobody has it open, and nothing beside it is touched. */
type CheckOptions = { timeoutMs: number; immutable?: boolean; signal?: AbortSignal };

/**
 * Has a database read to its end by a process of its own: it takes a while, and whatever is wrong with the file does not
 * get near this process. Finds what is not a database of SQLite any more, not a value that was altered into another value.
 */
export async function checkDatabase(
  file: string,
  { timeoutMs, immutable = false, signal }: CheckOptions,
): Promise<CheckedDatabase> {
  const args = ['--max-old-space-size=256', program, file, immutable ? 'immutable' : 'shared'];
  try {
    const { stdout } = await run(process.execPath, args, { timeout: timeoutMs, killSignal: 'SIGKILL', env: {}, signal });
    return JSON.parse(stdout) as CheckedDatabase;
  } catch (error) {
    signal?.throwIfAborted();
    if ((error as { killed?: boolean }).killed === true) return 'unfinished';
    return { fault: 'it ended the process that read it', isDamaged: true, newest: '' };
  }
}
