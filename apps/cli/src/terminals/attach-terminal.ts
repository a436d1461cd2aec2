import { spawn } from 'node:child_process';
import { CliError } from '../cli-error.ts';
import { environmentOfPrograms } from '../terminal.ts';
import type { Named } from './find-terminal.ts';

/** The command that shows a terminal to a person. @throws CliError for a program outside tmux */
export function attachCommand({ own, other }: Named): readonly string[] {
  if (own !== null) return own.attach;
  if (other?.multiplexer === 'tmux' && other.tmux_target !== null && targetForm.test(other.tmux_target))
    return ['tmux', 'attach-session', '-t', other.tmux_target];
  throw new CliError('it cannot be shown here.', {
    why: `The program (process ${other?.pid ?? '?'}) is in no tmux terminal.`,
    run: `./svc session watch ${other?.conversation_key ?? 'KEY'}`,
  });
}

/** Only a pane number is accepted: tmux would run commands contained in other names. */
const targetForm = /^%\d{1,9}$/;

/** Hands this terminal to tmux until the person detaches or the program ends. @throws CliError */
export async function attach([program = 'tmux', ...args]: readonly string[]): Promise<void> {
  // tmux refuses to run within another tmux; the inner one is controlled by pressing its prefix twice.
  const isPassed = ([name]: [string, unknown]) => name !== 'TMUX' && !name.startsWith('SVC_');
  const env = Object.fromEntries(Object.entries(environmentOfPrograms()).filter(isPassed));
  const child = spawn(program, args, { stdio: 'inherit', env });
  const ignore = () => undefined; // Ctrl-C is for the program in front
  process.on('SIGINT', ignore);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', resolve);
    });
    if (code !== 0) throw new CliError('tmux did not show it.', { run: './svc terminal' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new CliError('tmux is not installed.', { run: 'apt-get install tmux' });
  } finally {
    process.off('SIGINT', ignore);
  }
}
