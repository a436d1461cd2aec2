import { Option, type Command } from 'commander';
import { folderPolicies, type FolderPolicy } from '@svc/contract/folder.ts';
import { defineCommand, defineDefault, wholeNumber } from '../program/define-command.ts';

type Json = { json?: boolean };
export type HistoryOptions = { limit: number; before?: number };
export type InjectOptions = { by?: string; interrupt?: boolean };

/** The actions of `svc session`, except the list. `cwd` and `title`: null clears; without a title it is shown. */
export type SessionRequest = Json & { key: string } & (
    | { action: 'show' | 'watch' | 'abort' | 'release' | 'forget' }
    | ({ action: 'history' } & HistoryOptions)
    | { action: 'title'; title?: string | null }
    | ({ action: 'inject'; text: string } & InjectOptions)
    | { action: 'claim'; by?: string }
    | { action: 'set'; cwd: string | null; for?: FolderPolicy }
  );

/** `all`: includes inactive ones. */
export type SessionsOptions = { all?: boolean; limit: number; json?: boolean; follow?: boolean };

type Run = (request: SessionRequest) => Promise<void>;

const example = 'compat:c1:key';

/** Adds `session` and its subcommands. */
export function addSessionCommand(program: Command, run: Run, list: (options: SessionsOptions) => Promise<void>): void {
  const noun = defineCommand(program, 'session', {
    summary: 'list the conversations, read one, name it, steer it or forget it',
    examples: ['./svc session list --all', './svc session history KEY', './svc session title KEY Travel plans'],
  });
  defineDefault(noun, 'list', {
    summary: 'list the active conversations',
    examples: ['./svc session', './svc session list --follow', './svc session list --all --limit 200 --json'],
  })
    .option('-a, --all', 'also the inactive ones')
    .option('-f, --follow', 'keep showing changes')
    .option('--limit <count>', 'how many', wholeNumber(0, 999_999), 50)
    .option('--json', 'print JSON')
    .action((options: SessionsOptions) => list(options));
  addOne(noun, 'show', 'show one conversation', []).action((key: string, options: Json) =>
    run({ action: 'show', key, ...options }),
  );
  addHistory(noun, run);
  addOne(noun, 'watch', 'show what happens in one, until Ctrl-C', [`./svc session watch ${example}`]).action(
    (key: string, options: Json) => run({ action: 'watch', key, ...options }),
  );
  addTitle(noun, run);
  addSteering(noun, run);
  addSet(noun, run);
  addOne(noun, 'forget', 'delete what was said in one, and its files', []).action((key: string, options: Json) =>
    run({ action: 'forget', key, ...options }),
  );
}

/** A command on one conversation. */
const addOne = (noun: Command, verb: string, summary: string, examples: readonly string[]): Command =>
  defineCommand(noun, verb, { summary, examples: examples.length === 0 ? [`./svc session ${verb} ${example}`] : examples })
    .argument('<key>', 'as ./svc session list --all shows it')
    .option('--json', 'print JSON');

function addHistory(noun: Command, run: Run): void {
  addOne(noun, 'history', 'show what was said in one', [
    `./svc session history ${example}`,
    `./svc session history ${example} --limit 5 --json`,
  ])
    .option('--limit <count>', 'how many turns, the newest', wholeNumber(1, 1000), 50)
    .addOption(
      new Option('--before <number>', 'the page before this one, as shown in its first line').argParser(
        wholeNumber(0, 9_999_999),
      ),
    )
    .action((key: string, options: Json & HistoryOptions) => run({ action: 'history', key, ...options }));
}

function addTitle(noun: Command, run: Run): void {
  addOne(noun, 'title', 'show the title of one, or name it', [
    `./svc session title ${example}`,
    `./svc session title ${example} Travel plans`,
    `./svc session title ${example} none`,
  ])
    .argument('[title...]', 'your own; "none" gives it back to the service')
    .action((key: string, words: string[], options: Json) => {
      const text = words.join(' ');
      const title = words.length === 0 ? undefined : text === 'none' ? null : text;
      return run({ action: 'title', key, title, ...options });
    });
}

function addSteering(noun: Command, run: Run): void {
  addOne(noun, 'abort', 'stop the turn that runs or waits in one', []).action((key: string, options: Json) =>
    run({ action: 'abort', key, ...options }),
  );
  addOne(noun, 'inject', 'say something in one, and print the answer', [
    `./svc session inject ${example} The meeting is at ten`,
    `./svc session inject ${example} --interrupt Stop that, and sum up`,
  ])
    .argument('<text...>', 'for the assistant; its answer also goes over the channel')
    .option('--interrupt', 'stop the turn that runs first')
    .option('--by <name>', 'who says it')
    .action((key: string, words: string[], options: Json & InjectOptions) =>
      run({ action: 'inject', key, text: words.join(' '), ...options }),
    );
  addOne(noun, 'claim', 'take one over from its channel', [
    `./svc session claim ${example}`,
    `./svc session claim ${example} --by anna`,
  ])
    .option('--by <name>', 'who takes it over')
    .action((key: string, options: Json & { by?: string }) => run({ action: 'claim', key, ...options }));
  addOne(noun, 'release', 'give one back to its channel', []).action((key: string, options: Json) =>
    run({ action: 'release', key, ...options }),
  );
}

function addSet(noun: Command, run: Run): void {
  addOne(noun, 'set', 'set the folder that a conversation works in', [
    `./svc session set ${example} --cwd ~/src/site`,
    `./svc session set ${example} --cwd none`,
  ])
    .requiredOption('--cwd <dir>', 'a folder of this machine; "none" clears')
    .addOption(new Option('--for <policy>', 'lowest tool policy with which people work there').choices(folderPolicies))
    .action((key: string, { cwd, ...options }: Json & { cwd: string; for?: FolderPolicy }) =>
      run({ action: 'set', key, cwd: cwd === 'none' ? null : cwd, ...options }),
    );
}
