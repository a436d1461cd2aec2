import { spawnOwned, type OwnedProcess } from './owned-process.ts';
import { within } from '../within.ts';
import { createTextTail } from './text-tail.ts';

export type ProgramResult = {
  ending: 'ended' | 'too_late' | 'not_started';
  /** The exit code; null when it did not exit by itself. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** True when it wrote more to stdout than was kept. */
  isCut: boolean;
};

type Options = { env: Readonly<Record<string, string | undefined>>; cwd?: string; timeoutMs: number; maxOutput?: number };

/** How many characters at the end of stdout are kept. */
export const usualOutput = 64 * 1024;

/** Runs a program to its end without a shell, with nothing on stdin. Past `timeoutMs` it is killed; it never rejects. */
export async function runProgram(command: string, args: readonly string[], options: Options): Promise<ProgramResult> {
  const stdout = createTextTail(options.maxOutput ?? usualOutput);
  const stderr = createTextTail();
  const result = (ending: ProgramResult['ending'], code: number | null = null): ProgramResult => ({
    ending,
    code,
    stdout: stdout.raw(),
    stderr: stderr.read(),
    isCut: stdout.isCut(),
  });
  const owned = tryToSpawn(() => spawnOwned(command, args, options));
  if (owned instanceof Error) {
    stderr.add(owned.message);
    return result('not_started');
  }
  const { child } = owned;
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  child.on('error', (error) => stderr.add(error.message));
  child.stdin.on('error', () => undefined).end(); // it may end without reading
  child.stdout.setEncoding('utf8').on('data', stdout.add);
  child.stderr.setEncoding('utf8').on('data', stderr.add);
  if (await within(closed, options.timeoutMs)) return result(child.pid === undefined ? 'not_started' : 'ended', child.exitCode);
  await owned.kill();
  return result('too_late');
}

function tryToSpawn(spawn: () => OwnedProcess): OwnedProcess | Error {
  try {
    return spawn();
  } catch (error) {
    return error as Error;
  }
}
