import { folderPolicies, folderTiers, type FolderPolicy } from '@svc/contract/folder.ts';
import { Option, type Command } from 'commander';

/** What a folder is set for; exactly one of them. `instance`: a name or an id. */
export type FolderTarget = { instance?: string; channel?: string; tier?: string };
type Json = { json?: boolean };

/** What `svc folder` is asked for. */
export type FolderRequest = Json &
  (
    | { action: 'list' }
    | { action: 'set'; folder: string; target: FolderTarget }
    | { action: 'clear'; target: FolderTarget }
    | { action: 'trust' | 'untrust'; folder: string }
  );

/** What `svc session` is asked for. `cwd`: null clears. */
export type SessionRequest = Json &
  ({ action: 'show'; key: string } | { action: 'set'; key: string; cwd: string | null; for?: FolderPolicy });

/** Adds `folder` and what belongs to it to the program. */
export function addFolderCommand(program: Command, run: (request: FolderRequest) => Promise<void>): void {
  const folder = program
    .command('folder')
    .description('list the folders that conversations work in, set, clear or trust one')
    .addHelpText('after', folderExamples);
  const command = (name: string, description: string) =>
    folder.command(name).description(description).option('--json', 'print JSON');
  const withTarget = (made: Command) =>
    made
      .addOption(new Option('-i, --instance <name>', 'for a connector: its name or id').conflicts(['channel', 'tier']))
      .addOption(new Option('-c, --channel <name>', 'for a channel, such as compat').conflicts(['instance', 'tier']))
      .addOption(new Option('-t, --tier <tier>', 'for people of a trust tier').choices(folderTiers));

  folder
    .command('list', { isDefault: true })
    .description('list what is set and trusted, and what is wrong with it')
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list', ...options }));
  withTarget(command('set', 'work in a folder from the next turn on').argument('<dir>', 'a folder of this machine')).action(
    (dir: string, { json, ...target }: Json & FolderTarget, self: Command) =>
      run({ action: 'set', folder: dir, target: oneOf(target, self), json }),
  );
  withTarget(command('clear', 'work in the usual folder again')).action(
    ({ json, ...target }: Json & FolderTarget, self: Command) => run({ action: 'clear', target: oneOf(target, self), json }),
  );
  for (const [action, description] of [
    ['trust', 'let the tool servers, hooks and settings run that a folder brings'],
    ['untrust', 'take that back'],
  ] as const) {
    command(action, description)
      .argument('<dir>', 'a folder of this machine')
      .action((dir: string, options: Json) => run({ action, folder: dir, ...options }));
  }
}

/** Adds `session` and what belongs to it to the program. */
export function addSessionCommand(program: Command, run: (request: SessionRequest) => Promise<void>): void {
  const session = program
    .command('session')
    .description('show one conversation, or set the folder it works in')
    .addHelpText('after', sessionExamples);
  session
    .command('show')
    .description('show one conversation')
    .argument('<key>', 'as ./svc sessions --all lists it')
    .option('--json', 'print JSON')
    .action((key: string, options: Json) => run({ action: 'show', key, ...options }));
  session
    .command('set')
    .description('set the folder that a conversation works in')
    .argument('<key>', 'as ./svc sessions --all lists it')
    .requiredOption('--cwd <dir>', 'a folder of this machine; "none" clears')
    .addOption(new Option('--for <policy>', 'tool policy from which on people work there').choices(folderPolicies))
    .option('--json', 'print JSON')
    .action((key: string, { cwd, ...options }: Json & { cwd: string; for?: FolderPolicy }) =>
      run({ action: 'set', key, cwd: cwd === 'none' ? null : cwd, ...options }),
    );
}

function oneOf(target: FolderTarget, command: Command): FolderTarget {
  if (Object.values(target).filter((value) => value !== undefined).length === 1) return target;
  return command.error('error: say what the folder is for, with one of --instance, --channel and --tier');
}

const folderExamples = `
Examples:
  ./svc folder set ~/src/site --instance work
  ./svc folder trust ~/src/site
  ./svc session set KEY --cwd ~/src/site    for one conversation`;

const sessionExamples = `
Examples:
  ./svc session set compat:c1:key --cwd ~/src/site
  ./svc session set compat:c1:key --cwd none`;
