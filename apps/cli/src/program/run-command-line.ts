import { lazyCommands } from './lazy-commands.ts';

/** Commands that mean the same with the parser of options or without when they are typed alone. Loading it takes as long as what they do. */
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
