import { spawn } from 'node:child_process';
import { childGone, endProcessGroup, within } from './process-group.ts';
import { createTextTail } from './text-tail.ts';

export type ProgramResult = { code: number | null; stdout: string; stderr: string };

/** Runs a program to its end without a shell. Past `timeoutMs` it is killed and `code` is null; it never rejects. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { env: Record<string, string>; cwd: string; timeoutMs: number },
): Promise<ProgramResult> {
  const child = spawn(command, args, { env: options.env, cwd: options.cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const stdout = createTextTail(64 * 1024);
  const stderr = createTextTail();
  child.on('error', (error) => stderr.add(error.message));
  child.stdout.setEncoding('utf8').on('data', stdout.add);
  child.stderr.setEncoding('utf8').on('data', stderr.add);
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  if (!(await within(closed, options.timeoutMs))) await endProcessGroup(child, { politeMs: 0, termMs: 500 });
  await childGone(child);
  return { code: child.exitCode, stdout: stdout.read(), stderr: stderr.read() };
}
