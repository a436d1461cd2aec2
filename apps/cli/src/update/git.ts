import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { gitEnv } from './program-env.ts';

/** Runs git in one folder and returns its output. @throws GitFault */
export type Git = (args: readonly string[], options?: { timeoutMs?: number }) => Promise<string>;

/** A failure of git, with the end of its message. */
export class GitFault extends Error {
  override readonly name = 'GitFault';
}

const usualTimeoutMs = 60_000;
const maxOutput = 16 * 1024 * 1024;

/** Code from a repository is never run: no hooks, no file monitor, no other protocols. The user's own git settings, such as a login, apply. */
const always = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'advice.detachedHead=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // Syncs the index too: git does not work without it.
  'core.fsync=committed,index',
];

export function openGit(folder: string): Git {
  return async (args, { timeoutMs = usualTimeoutMs } = {}) => {
    const settings = always.flatMap((setting) => ['-c', setting]);
    const found = await runProgram('git', [...settings, ...args], { cwd: folder, env: gitEnv(), timeoutMs, maxOutput });
    if (found.ending === 'ended' && found.code === 0) return found.stdout;
    throw new GitFault(reasonOf(args[0] ?? '', found, timeoutMs));
  };
}

function reasonOf(command: string, { ending, code, stderr }: Awaited<ReturnType<typeof runProgram>>, timeoutMs: number): string {
  if (ending === 'not_started') return 'git is not installed, or could not be started.';
  if (ending === 'too_late') return `git ${command} did not end within ${timeoutMs / 1000} s.`;
  return `git ${command} failed: ${withoutLogin(stderr.trim().slice(-1000)) || `it ended with ${code}`}`;
}

/** An address may contain a password. */
const withoutLogin = (text: string): string => text.replaceAll(/:\/\/[^/@\s]+@/g, '://');
