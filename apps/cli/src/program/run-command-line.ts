import { lazyCommands } from './lazy-commands.ts';

/** Commands that work without the option parser when they have no options. Loading the parser takes as long as their work. */
export const bareCommands: ReadonlyMap<string, () => Promise<number>> = new Map([
  ['doctor', () => lazyCommands.doctor({})],
  ['status', () => lazyCommands.status({})],
]);

/** Runs one command line (without the program's own name) and gives the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const bare = args.length === 1 ? bareCommands.get(args[0] ?? '') : undefined;
  if (bare !== undefined) return bare();
  const { runProgram } = await import('./run-program.ts');
  return runProgram(args);
}
