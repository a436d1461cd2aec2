import { CommanderError, type Command } from 'commander';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { addUsageCommand } from '../insights/insights-commands.ts';
import { printError } from '../terminal.ts';
import { createProgram, runOf } from './create-program.ts';
import { refuseUnknownCommand, withoutHelpWord } from './find-command.ts';
import { lazyCommands, type Commands, type Run } from './lazy-commands.ts';
import { currentSpelling } from './old-spellings.ts';
import { addChatCommand, addDoctorCommand, addStatusCommand } from './single-commands.ts';

/** For these commands the definitions of the others are not loaded, which would take as long as their work. */
const usedOften: ReadonlyMap<string, (program: Command, run: Run) => void> = new Map([
  ['chat', addChatCommand],
  ['doctor', addDoctorCommand],
  ['status', addStatusCommand],
  ['usage', addUsageCommand],
]);

/** Runs one command line (without the program's own name) and gives the exit code. */
export async function runProgram(args: readonly string[], commands: Commands = lazyCommands): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const { args: spelled, hint } = currentSpelling(args);
  const addCommands = usedOften.get(spelled[0] ?? '') ?? (await import('./program.ts')).addAllCommands;
  const program = createProgram(
    runOf(commands, (code) => void (exitCode = code)),
    addCommands,
  );
  if (hint !== null) printError(hint);
  try {
    const asked = spelled.length === 0 ? ['--help'] : withoutHelpWord(program, spelled);
    refuseUnknownCommand(program, asked);
    await program.parseAsync(asked, { from: 'user' });
  } catch (error) {
    // Help, version and usage errors have been printed already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    throw error;
  }
  return exitCode;
}
