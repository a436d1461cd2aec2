import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { addAnnounceCommand } from '../announce/announce-command.ts';
import { addBackupCommand } from '../backup/backup-command.ts';
import { addConnectorCommand } from '../connector/connector-command.ts';
import { addPriceCommand, addSpendCommand } from '../cost/cost-commands.ts';
import { addDeliveryCommand } from '../deliveries/delivery-command.ts';
import { addEngineCommand } from '../engine/engine-command.ts';
import { addFolderCommand } from '../folder/folder-command.ts';
import { addSessionCommand } from '../session/session-command.ts';
import { addEventsCommand, addOtelCommand, addSearchCommand, addUsageCommand } from '../insights/insights-commands.ts';
import { addKeyCommand } from '../key/key-command.ts';
import { addPersonaCommand } from '../persona/persona-command.ts';
import { repositoryRoot } from '../repository-root.ts';
import { addSecretCommand } from '../secret/secret-command.ts';
import { addRoleCommand } from '../role/role-command.ts';
import { printError } from '../terminal.ts';
import { addServiceCommand, addUninstallCommand } from '../service/service-command.ts';
import { addToolCommand } from '../tool/tool-command.ts';
import { addPersonCommand } from '../trust/person-command.ts';
import { addUploadCommand } from '../upload/upload-command.ts';
import { addVaultCommand } from '../vault/vault-command.ts';
import { refuseUnknownCommand, withoutHelpWord } from './find-command.ts';
import { lazyCommands, type Commands, type Run } from './lazy-commands.ts';
import { currentSpelling } from './old-spellings.ts';
import { pointToHelp, styleHelp } from './program-help.ts';
import {
  addChatCommand,
  addCheckCommand,
  addCompletionCommand,
  addDoctorCommand,
  addLogsCommand,
  addPairCommand,
  addSendCommand,
  addSpeakCommand,
  addStatusCommand,
  addTestCommand,
  addTranscribeCommand,
  addUpCommand,
} from './single-commands.ts';

type Add = (program: Command, run: Run) => void;

/** The commands as the help lists them: what is used most stands first. */
const groups: Readonly<Record<string, readonly Add[]>> = {
  Talk: [addChatCommand, addSpeakCommand, addTranscribeCommand, (program, run) => addAnnounceCommand(program, run.announce)],
  People: [
    (program, run) => addPersonCommand(program, run.trust),
    addPairCommand,
    (program, run) => addRoleCommand(program, run.role),
  ],
  Channels: [
    (program, run) => addConnectorCommand(program, run.connector, run.create),
    (program, run) => addKeyCommand(program, run.key),
    addSendCommand,
    (program, run) => addDeliveryCommand(program, run.deliveries),
  ],
  'Engines and tools': [
    (program, run) => addEngineCommand(program, run.engine),
    (program, run) => addToolCommand(program, run.tool),
    addPersonaCommand,
  ],
  Files: [(program, run) => addUploadCommand(program, run.upload), (program, run) => addFolderCommand(program, run.folder)],
  Watch: [
    addStatusCommand,
    addLogsCommand,
    addDoctorCommand,
    (program, run) => addSessionCommand(program, run.session, run.sessions),
    addUsageCommand,
    (program, run) => addSpendCommand(program, run.spend),
    (program, run) => addPriceCommand(program, run.price),
    addSearchCommand,
    addEventsCommand,
    addOtelCommand,
  ],
  Keep: [
    addUpCommand,
    addServiceCommand,
    (program, run) => addBackupCommand(program, run.backup),
    (program, run) => addSecretCommand(program, run.secret),
    (program, run) => addVaultCommand(program, run.vault),
    addCompletionCommand,
    addUninstallCommand,
  ],
  Develop: [addTestCommand, addCheckCommand],
};

/** Runs one command line (without the program's own name) and gives the exit code. */
export async function runProgram(args: readonly string[], commands: Commands = lazyCommands): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const program = createProgram(runOf(commands, (code) => void (exitCode = code)));
  const { args: spelled, hint } = currentSpelling(args);
  if (hint !== null) printError(hint);
  try {
    const asked = spelled.length === 0 ? ['--help'] : withoutHelpWord(program, spelled);
    refuseUnknownCommand(program, asked);
    await program.parseAsync(asked, { from: 'user' });
  } catch (error) {
    // Help, version and mistakes in the arguments have been printed already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    throw error;
  }
  return exitCode;
}

/** The tree of all commands, to be read. */
export const allCommands = (): Command => createProgram(runOf(lazyCommands, () => undefined));

function createProgram(run: Run): Command {
  const program = new Command('./svc')
    .description(
      'The Assistant Gateway: one assistant, reached from every channel.\nBegin with "./svc up" here and "./svc chat hello" in another terminal.',
    )
    .version(readFileSync(path.join(repositoryRoot, 'VERSION'), 'utf8').trim(), '-V, --version')
    .usage('COMMAND [options]')
    .exitOverride()
    .addHelpText('after', '\n"./svc COMMAND --help" shows what a command takes, with examples; "./svc --version" the version.');
  styleHelp(program);
  for (const [group, adds] of Object.entries(groups)) {
    program.commandsGroup(`${group}:`);
    for (const add of adds) add(program, run);
  }
  pointToHelp(program);
  return program;
}

const runOf = (commands: Commands, done: (exitCode: number) => void): Run =>
  Object.fromEntries(
    Object.entries(commands as Record<string, (...args: unknown[]) => Promise<number>>).map(([name, command]) => [
      name,
      async (...args: unknown[]) => done(await command(...args)),
    ]),
  ) as Run;
