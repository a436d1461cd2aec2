import { spawnSync } from 'node:child_process';
import { findProgram } from './engine-path.ts';

let setpriv: string | null | undefined;

/**
 * Ties a program to the life of this process: when we are killed, the kernel sends it SIGTERM, or another signal if it ignores that. An
 * engine in the middle of a turn would not notice that its stdin was closed. Linux only, with `setpriv` of util-linux, which adds no
 * process; elsewhere the program ends with its turn.
 */
export function tieToParent(
  command: string,
  args: readonly string[],
  searchPath: string | undefined,
  signal: 'TERM' | 'KILL' = 'TERM',
): { command: string; args: readonly string[] } {
  setpriv ??= findSetpriv(searchPath);
  if (setpriv === null) return { command, args };
  return { command: setpriv, args: ['--pdeathsig', signal, '--', command, ...args] };
}

function findSetpriv(searchPath: string | undefined): string | null {
  if (process.platform !== 'linux') return null;
  const program = findProgram('setpriv', searchPath);
  if (program === null) return null;
  // Some minimal builds lack the option.
  const tried = spawnSync(program, ['--pdeathsig', 'TERM', '--', program, '--version'], { stdio: 'ignore', timeout: 5000 });
  return tried.status === 0 ? program : null;
}
