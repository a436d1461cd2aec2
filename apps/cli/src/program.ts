import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander';
import type { BackupCommand } from './commands/backup.ts';
import type { ChatOptions } from './commands/chat.ts';
import type { DeliveriesOptions } from './commands/deliveries.ts';
import { engineActions, type EngineAction, type EngineOptions } from './engine/engine-actions.ts';
import { addInsightsCommands, insightsCommands } from './insights/add-insights-commands.ts';
import type { LogsOptions } from './commands/logs.ts';
import type { PairOptions } from './commands/pair.ts';
import type { PersonaAction, PersonaOptions } from './commands/persona.ts';
import type { VaultCommand } from './commands/vault.ts';
import type { SendOptions } from './commands/send.ts';
import type { SpeakOptions } from './commands/speak.ts';
import type { TranscribeOptions } from './commands/transcribe.ts';
import type { TestOptions } from './commands/test.ts';
import type { UploadOptions } from './commands/upload.ts';
import type { DeliveryAction } from './deliveries/change-deliveries.ts';
import { addConnectorCommands, type ConnectorRequest, type NewRequest } from './connector/connector-command.ts';
import { addBackupCommands } from './backup/add-backup-commands.ts';
import { pointToHelp, styleHelp, withoutHelpCommand } from './program-help.ts';
import { addFolderCommand, addSessionCommand, type FolderRequest, type SessionRequest } from './folder/folder-command.ts';
import { parsePersonaTier } from './persona/persona-tier.ts';
import { repositoryRoot } from './repository-root.ts';
import { addVaultCommands } from './vault/add-vault-commands.ts';
import { addToolCommand, type ToolRequest } from './tool/tool-command.ts';
import { addTrustCommand, type TrustRequest } from './trust/trust-command.ts';

/** What the commands do; each gives the exit code. Loaded when it is used: `svc --help` needs none of them. */
const lazyCommands = {
  ...insightsCommands,
  up: async () => (await import('./commands/up.ts')).up(),
  chat: async (text: string, options: ChatOptions) => (await import('./commands/chat.ts')).chat(text, options),
  status: async (options: { json?: boolean }) => (await import('./commands/status.ts')).status(options),
  doctor: async (options: { json?: boolean }) => (await import('./commands/doctor.ts')).doctor(options),
  persona: async (action: PersonaAction, options: PersonaOptions) =>
    (await import('./commands/persona.ts')).persona(action, options),
  pair: async (code: string, options: PairOptions) => (await import('./commands/pair.ts')).pair(code, options),
  deliveries: async (action: DeliveryAction | null, ids: string[], options: DeliveriesOptions) =>
    (await import('./commands/deliveries.ts')).deliveries(action, ids, options),
  send: async (channel: string | null, target: string, text: string, options: SendOptions) =>
    (await import('./commands/send.ts')).send(channel, target, text, options),
  upload: async (file: string, options: UploadOptions) => (await import('./commands/upload.ts')).upload(file, options),
  speak: async (text: string, options: SpeakOptions) => (await import('./commands/speak.ts')).speak(text, options),
  transcribe: async (file: string, options: TranscribeOptions) =>
    (await import('./commands/transcribe.ts')).transcribe(file, options),
  tool: async (request: ToolRequest) => (await import('./commands/tool.ts')).tool(request),
  folder: async (request: FolderRequest) => (await import('./commands/folder.ts')).folder(request),
  session: async (request: SessionRequest) => (await import('./commands/session.ts')).session(request),
  trust: async (request: TrustRequest) => (await import('./commands/trust.ts')).trust(request),
  engine: async (action: EngineAction, id: string | null, words: readonly string[], options: EngineOptions) =>
    (await import('./commands/engine.ts')).engine(action, id, words, options),
  connector: async (request: ConnectorRequest) => (await import('./commands/connector.ts')).connector(request),
  create: async (request: NewRequest) => (await import('./commands/connector.ts')).newFromTemplate(request),
  logs: async (name: string | null, options: LogsOptions) => (await import('./commands/logs.ts')).logs(name, options),
  backup: async (command: BackupCommand) => (await import('./commands/backup.ts')).backup(command),
  vault: async (command: VaultCommand) => (await import('./commands/vault.ts')).vault(command),
  test: async (filters: string[], options: TestOptions) => (await import('./commands/test.ts')).test(filters, options),
  check: async (options: { fix?: boolean }) => (await import('./commands/check.ts')).check(options),
};

export type Commands = typeof lazyCommands;

/** Runs one command line (without the program's own name) and gives the exit code. */
export async function runProgram(args: readonly string[], commands: Commands = lazyCommands): Promise<number> {
  let exitCode = 0;
  const program = createProgram(commands, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(withoutHelpCommand(program, args), { from: 'user' });
  } catch (error) {
    // Help, version and mistakes in the arguments have been printed already.
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
  return exitCode;
}

function createProgram(commands: Commands, done: (exitCode: number) => void): Command {
  const program = new Command('./svc')
    .description('The Assistant Gateway: one assistant, reached from every channel.')
    .version(readFileSync(path.join(repositoryRoot, 'VERSION'), 'utf8').trim(), '-V, --version')
    .helpCommand('help [command]', 'show what there is, or how a command is used')
    .exitOverride()
    .addHelpText('after', '\nBegin with "./svc up" here and "./svc chat hello" in another terminal.');
  styleHelp(program);

  program
    .command('up')
    .description('run the service here, until Ctrl-C')
    .action(async () => done(await commands.up()));
  program
    .command('chat')
    .description('talk to the assistant')
    .argument('[text...]', 'one message; without it a conversation begins, or the message is read from a pipe')
    .option('-s, --session <name>', 'which conversation', 'default')
    .option('-n, --new', 'begin the conversation anew')
    .option('--json', 'print the result as JSON')
    .action(async (words: string[], options: ChatOptions) => done(await commands.chat(words.join(' '), options)));
  program
    .command('upload')
    .description('send a file to the upload area; one that was stopped goes on')
    .argument('<file>', 'of any size')
    .option('--mime <type>', 'what the file is, when its name does not say it')
    .option('--parallel <n>', 'chunks on their way at once', '4')
    .option('--json', 'print the file as JSON')
    .action(async (file: string, options: UploadOptions) => done(await commands.upload(file, options)));
  program
    .command('speak')
    .description('have a text spoken, into a file or a pipe')
    .argument('<text...>', 'what is spoken')
    .option('-o, --output <file>', 'where it goes; its ending says the format')
    .option('--voice <name>', 'who speaks')
    .option('--model <name>', 'model that speaks')
    .option('--format <format>', 'mp3, opus, aac, flac, wav or pcm')
    .action(async (words: string[], options: SpeakOptions) => done(await commands.speak(words.join(' '), options)));
  program
    .command('transcribe')
    .description('print what is said in a clip')
    .argument('<file>', 'a clip, such as note.ogg')
    .option('--language <code>', 'the language that is spoken, such as en')
    .option('--model <name>', 'model that listens')
    .option('--mime <type>', 'what the file is, when its first bytes do not say it')
    .option('--json', 'print JSON')
    .action(async (file: string, options: TranscribeOptions) => done(await commands.transcribe(file, options)));
  program
    .command('status')
    .description('show what runs')
    .option('--json', 'print JSON')
    .action(async (options) => done(await commands.status(options)));
  program
    .command('doctor')
    .description('find what is wrong and say how to fix it')
    .option('--json', 'print JSON')
    .action(async (options) => done(await commands.doctor(options)));
  program
    .command('pair')
    .description('list who waits to be let in, or let in the one with a code')
    .argument('[code...]', 'the code that a sender was given, such as ABCD-EFGH')
    .option('--as <key>', 'link to a person there is')
    .option('--role <role>', 'role of a new person (known when not given)')
    .option('--name <name>', 'name of a new person (that of the sender when not given)')
    .option('--json', 'print JSON')
    .addHelpText('after', '\n"./svc pair CODE --as owner" is for your own other device.')
    .action(async (code: string[], options: PairOptions) => done(await commands.pair(code.join(' '), options)));
  program
    .command('deliveries')
    .description('list the replies that could not be given to whoever asked, try them again or dismiss them')
    .addArgument(new Argument('[action]', 'without it they are listed').choices(['retry', 'dismiss'] satisfies DeliveryAction[]))
    .argument('[ids...]', 'which: their ids, or "all"')
    .option('--all', 'list the delivered ones too')
    .option('--json', 'print JSON')
    .action(async (action: DeliveryAction | undefined, ids: string[], options: DeliveriesOptions) =>
      done(await commands.deliveries(action ?? null, ids, options)),
    );
  program
    .command('send')
    .description('send a message out through a channel; without one, list where messages can be sent')
    .argument('[channel]', 'a connector type, or the name of an instance')
    .argument('[target]', 'room, chat or device there')
    .argument('[text...]', 'the message')
    .option('-i, --instance', 'the first argument is the id of an instance')
    .option('-f, --file <path>', 'a file of the upload area; the text is its caption then')
    .option('-k, --kind <kind>', 'how it is sent, such as photo')
    .option('--json', 'print JSON')
    .action(async (channel: string | undefined, target: string | undefined, words: string[], options: SendOptions) =>
      done(await commands.send(channel ?? null, target ?? '', words.join(' '), options)),
    );
  addConnectorCommands(
    program,
    async (request) => done(await commands.connector(request)),
    async (request) => done(await commands.create(request)),
  );
  addToolCommand(program, async (request) => done(await commands.tool(request)));
  addInsightsCommands(program, commands, done);
  addSessionCommand(program, async (request) => done(await commands.session(request)));
  addFolderCommand(program, async (request) => done(await commands.folder(request)));
  addTrustCommand(program, async (request) => done(await commands.trust(request)));
  program
    .command('engine')
    .description('show the engines, install one, log in, and set how they are used')
    .addArgument(new Argument('[action]', 'without it they are listed').choices(engineActions))
    .argument('[id]', 'which: claude, codex, gemini or offline; with "default" also "none"')
    .argument('[value...]', 'a model, "on" or "off", an address; "none" clears; with "login" options of the vendor\'s program')
    .allowUnknownOption()
    .option('--remove', 'with "key": forget it and use the login again')
    .option('--json', 'print the list as JSON')
    .addHelpText(
      'after',
      '\n"./svc engine key ID" reads the key from a pipe, or asks for it unseen.\n"./svc engine login ID OPTIONS" hands options on, such as --device-auth.',
    )
    .action(async (action: EngineAction | undefined, id: string | undefined, words: string[], options: EngineOptions) =>
      done(await commands.engine(action ?? 'list', id ?? null, words, options)),
    );
  program
    .command('persona')
    .description('show what the assistant is told about who it is, or change it')
    .addArgument(
      new Argument('[action]', '"edit" opens your own part of it in an editor').choices(['show', 'edit']).default('show'),
    )
    .option('--engine <id>', 'what this engine gives its model, and what its program adds')
    .option('--tier <tier>', 'in a turn of: owner, trusted, known or guest', parsePersonaTier)
    .option('--json', 'print JSON')
    .action(async (action: PersonaAction, options: PersonaOptions) => done(await commands.persona(action, options)));
  program
    .command('logs')
    .description('show the logs')
    .argument('[name]', 'of one process only, such as core')
    .option('-f, --follow', 'go on with what comes')
    .option('-n, --lines <count>', 'how many lines', wholeNumber, 100)
    .option('--json', 'print the lines as they are')
    .action(async (name: string | undefined, options: LogsOptions) => done(await commands.logs(name ?? null, options)));
  const backup = program.command('backup').description('make backups, and put one in place');
  addBackupCommands(backup, async (command) => done(await commands.backup(command)));
  const vault = program.command('vault').description('keep secrets sealed: set up, open, close, fill');
  addVaultCommands(vault, async (command) => done(await commands.vault(command)));
  program
    .command('test')
    .description('run the tests; everything after "test" but --unit and --deep goes to vitest')
    .argument('[filters...]', 'parts of file names, options of vitest')
    .option('--unit', 'only those that start no process, in under a minute')
    .option('--deep', 'also the long ones')
    .allowUnknownOption()
    .action(async (filters: string[], options) => done(await commands.test(filters, options)));
  program
    .command('check')
    .description('check format, lint, types, dead code and the rules of the house')
    .option('--fix', 'format the sources and fix what can be fixed')
    .action(async (options) => done(await commands.check(options)));
  pointToHelp(program, './svc');
  return program;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It takes a whole number.');
  return Number(text);
}
