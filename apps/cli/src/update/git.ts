import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { gitEnv } from './program-env.ts';

/** Runs git in one folder and gives what it wrote. @throws GitFault */
export type Git = (args: readonly string[], options?: { timeoutMs?: number }) => Promise<string>;

/** What git could not do, with its own last words. */
export class GitFault extends Error {
  override readonly name = 'GitFault';
}

const usualTimeoutMs = 60_000;
const maxOutput = 16 * 1024 * 1024;

/** Nothing that a repository brings is run: no hooks, no watcher, no other protocol than these. What a person has set for git, such as a login, counts. */
const always = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'advice.detachedHead=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // Also the index, without which git does nothing any more.
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

/** An address may have a password in it. */
const withoutLogin = (text: string): string => text.replaceAll(/:\/\/[^/@\s]+@/g, '://');
