import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';
import { waitFor } from './house.ts';

const strace = '/usr/bin/strace';

const endMs = 3000;

export type Fault = {
  /** Name of the system call. */
  call: string;
  /** The result in place of executing it, or the signal that kills the process before it. */
  error: 'ENOSPC' | 'EIO' | 'SIGKILL';
  /** Which of these calls fail: `1+` for all, `3` for the third of each thread (`oneThread` leaves two threads). */
  when: string;
  /** Only calls on these files; empty for all. */
  files: readonly string[];
};

/** The environment of a process whose calls are counted: only one thread besides the main one makes any. */
export const oneThread = { UV_THREADPOOL_SIZE: '1' };

/** Why no faults can be injected here; null when they can. */
export function whyNoFaults(): string | null {
  if (!existsSync(strace)) return 'strace is not installed';
  const own = spawnSync(strace, ['-qq', '-o', '/dev/null', '/bin/true']);
  return own.status === 0 ? null : 'strace may not trace programs here';
}

/** Makes system calls of a running process fail while `work` runs. Returns its result and the number of failed calls. */
export async function withFault<T>(pid: number, { call, error, when, files }: Fault, work: () => Promise<T>) {
  const folder = temporaryFolder();
  const log = path.join(folder.path, 'log');
  const filter = files.flatMap((file) => ['-P', file]);
  const effect = error === 'SIGKILL' ? `signal=${error}` : `error=${error}`;
  const args = ['-f', '-o', log, ...filter, '-e', `trace=${call}`, '-e', `inject=${call}:${effect}:when=${when}`];
  const tracer = spawn(strace, [...args, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<number | null>((resolve) => tracer.on('close', resolve));
  let said = '';
  tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  try {
    await waitFor(
      () => said.includes('attached'),
      10_000,
      () => `strace did not attach:\n${said}`,
      exited,
    );
    const result = await work();
    tracer.kill('SIGINT');
    // strace does not always notice that its process was killed.
    await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, endMs).unref())]);
    return { result, injected: readFileSync(log, 'utf8').split('(INJECTED)').length - 1 };
  } finally {
    tracer.kill('SIGKILL');
    folder.remove();
  }
}
