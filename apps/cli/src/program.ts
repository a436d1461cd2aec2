import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander';
import type { ChatOptions } from './commands/chat.ts';
import type { DeliveriesOptions } from './commands/deliveries.ts';
import type { LogsOptions } from './commands/logs.ts';
import type { PairOptions } from './commands/pair.ts';
import type { DeliveryAction } from './deliveries/change-deliveries.ts';
import { repositoryRoot } from './repository-root.ts';

/** What the commands do; each gives the exit code. Loaded when it is used: `svc --help` needs none of them. */
const lazyCommands = {
  up: async () => (await import('./commands/up.ts')).up(),
  chat: async (text: string, options: ChatOptions) => (await import('./commands/chat.ts')).chat(text, options),
  status: async (options: { json?: boolean }) => (await import('./commands/status.ts')).status(options),
  doctor: async (options: { json?: boolean }) => (await import('./commands/doctor.ts')).doctor(options),
  pair: async (code: string, options: PairOptions) => (await import('./commands/pair.ts')).pair(code, options),
  deliveries: async (action: DeliveryAction | null, ids: string[], options: DeliveriesOptions) =>
    (await import('./commands/deliveries.ts')).deliveries(action, ids, options),
  logs: async (name: string | null, options: LogsOptions) => (await import('./commands/logs.ts')).logs(name, options),
  test: async (filters: string[], options: { deep?: boolean }) => (await import('./commands/test.ts')).test(filters, options),
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
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Help, version and mistakes in the arguments have been printed already.
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
  return exitCode;
}

function createProgram(commands: Commands, done: (exitCode: number) => void): Command {
  const program = new Command('svc')
    .description('The Assistant Gateway: one assistant, reached from every channel.')
    .version(readFileSync(path.join(repositoryRoot, 'VERSION'), 'utf8').trim(), '-V, --version')
    .helpCommand(false)
    .showHelpAfterError('Run "svc --help" to see what there is.')
    .exitOverride()
    .addHelpText('after', '\nBegin with "svc up" here and "svc chat hello" in another terminal.');

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
    .command('status')
    .description('show what runs')
    .option('--json', 'print JSON')
    .action(async (options) => done(await commands.status(options)));
  program
    .command('doctor')
    .description('find what is wrong and say how to mend it')
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
    .addHelpText('after', '\n"svc pair CODE --as owner" is for your own other device.')
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
    .command('logs')
    .description('show the logs')
    .argument('[name]', 'of one process only, such as core')
    .option('-f, --follow', 'go on with what comes')
    .option('-n, --lines <count>', 'how many lines', wholeNumber, 100)
    .option('--json', 'print the lines as they are')
    .action(async (name: string | undefined, options: LogsOptions) => done(await commands.logs(name ?? null, options)));
  program
    .command('test')
    .description('run the tests; everything after "test" but --deep goes to vitest')
    .argument('[filters...]', 'parts of file names, options of vitest')
    .option('--deep', 'also the long ones')
    .allowUnknownOption()
    .action(async (filters: string[], options) => done(await commands.test(filters, options)));
  program
    .command('check')
    .description('check format, lint, types, dead code and the rules of the house')
    .option('--fix', 'format the sources and mend what can be mended')
    .action(async (options) => done(await commands.check(options)));
  return program;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It takes a whole number.');
  return Number(text);
}
