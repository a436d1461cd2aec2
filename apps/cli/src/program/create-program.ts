import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { repositoryRoot } from '../repository-root.ts';
import type { Commands, Run } from './lazy-commands.ts';
import { pointToHelp, styleHelp } from './program-help.ts';

/** The program, with the commands that `addCommands` adds. */
export function createProgram(run: Run, addCommands: (program: Command, run: Run) => void): Command {
  const program = new Command('./svc')
    .description(
      'The Assistant Gateway: one assistant, reached from every channel.\nBegin with "./svc up" here and "./svc chat hello" in another terminal.',
    )
    .version(readFileSync(path.join(repositoryRoot, 'VERSION'), 'utf8').trim(), '-V, --version')
    .usage('COMMAND [options]')
    .exitOverride()
    .addHelpText(
      'after',
      '\n"./svc COMMAND --help" shows the options of a command, with examples; "./svc --version" shows the version.',
    );
  styleHelp(program);
  addCommands(program, run);
  pointToHelp(program);
  return program;
}

/** The implementations for the command definitions; `done` receives the exit code. */
export const runOf = (commands: Commands, done: (exitCode: number) => void): Run =>
  Object.fromEntries(
    Object.entries(commands as Record<string, (...args: unknown[]) => Promise<number>>).map(([name, command]) => [
      name,
      async (...args: unknown[]) => done(await command(...args)),
    ]),
  ) as Run;
