import type { Command } from 'commander';
import { addAnnounceCommand } from '../announce/announce-command.ts';
import { addBackupCommand } from '../backup/backup-command.ts';
import { addConnectorCommand } from '../connector/connector-command.ts';
import { addPriceCommand, addSpendCommand } from '../cost/cost-commands.ts';
import { addDeliveryCommand } from '../deliveries/delivery-command.ts';
import { addDeviceCommand } from '../device/device-command.ts';
import { addEngineCommand } from '../engine/engine-command.ts';
import { addAuthCommand } from '../auth/auth-command.ts';
import { addFolderCommand } from '../folder/folder-command.ts';
import { addSessionCommand } from '../session/session-command.ts';
import { addEventsCommand, addOtelCommand, addSearchCommand, addUsageCommand } from '../insights/insights-commands.ts';
import { addKeyCommand } from '../key/key-command.ts';
import { addPersonaCommand } from '../persona/persona-command.ts';
import { addRoleCommand } from '../role/role-command.ts';
import { addSecretCommand } from '../secret/secret-command.ts';
import { addServiceCommand, addUninstallCommand } from '../service/service-command.ts';
import { addTerminalCommand } from '../terminals/terminal-command.ts';
import { addToolCommand } from '../tool/tool-command.ts';
import { addToolserverCommand } from '../toolserver/toolserver-command.ts';
import { addPersonCommand } from '../trust/person-command.ts';
import { addUpdateCommand } from '../update/update-command.ts';
import { addUploadCommand } from '../upload/upload-command.ts';
import { addVaultCommand } from '../vault/vault-command.ts';
import { createProgram, runOf } from './create-program.ts';
import { lazyCommands, type Run } from './lazy-commands.ts';
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

/** The commands in the order of the help: the most used first. */
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
    (program, run) => addToolserverCommand(program, run.toolserver),
    (program, run) => addDeviceCommand(program, run.device),
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
    (program, run) => addTerminalCommand(program, run.terminal),
    addUsageCommand,
    (program, run) => addSpendCommand(program, run.spend),
    (program, run) => addPriceCommand(program, run.price),
    addSearchCommand,
    addEventsCommand,
    addOtelCommand,
  ],
  Keep: [
    addUpCommand,
    (program, run) => addAuthCommand(program, run.auth),
    addServiceCommand,
    addUpdateCommand,
    (program, run) => addBackupCommand(program, run.backup),
    (program, run) => addSecretCommand(program, run.secret),
    (program, run) => addVaultCommand(program, run.vault),
    addCompletionCommand,
    addUninstallCommand,
  ],
  Develop: [addTestCommand, addCheckCommand],
};

/** The tree of all commands, for reading only. */
export const allCommands = (): Command =>
  createProgram(
    runOf(lazyCommands, () => undefined),
    addAllCommands,
  );

/** Adds every command, in its group. */
export function addAllCommands(program: Command, run: Run): void {
  for (const [group, adds] of Object.entries(groups)) {
    program.commandsGroup(`${group}:`);
    for (const add of adds) add(program, run);
  }
}
