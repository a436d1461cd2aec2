import { Option, type Command } from 'commander';
import { folderPolicies, type FolderPolicy } from '@svc/contract/folder.ts';
import { defineCommand, defineDefault, wholeNumber } from '../program/define-command.ts';

type Json = { json?: boolean };

/** What `svc session` is asked for, beside the list. `cwd`: null clears. */
export type SessionRequest = Json &
  ({ action: 'show'; key: string } | { action: 'set'; key: string; cwd: string | null; for?: FolderPolicy });

/** `all`: also those in which nothing happened for a while. */
export type SessionsOptions = { all?: boolean; limit: number; json?: boolean; follow?: boolean };

type Run = (request: SessionRequest) => Promise<void>;

/** Adds `session` with what belongs to it. */
export function addSessionCommand(program: Command, run: Run, list: (options: SessionsOptions) => Promise<void>): void {
  const noun = defineCommand(program, 'session', {
    summary: 'list the conversations, show one, or set the folder it works in',
    examples: ['./svc session list --all', './svc session show KEY', './svc session set KEY --cwd ~/src/site'],
  });
  defineDefault(noun, 'list', {
    summary: 'list the conversations that are at work',
    examples: ['./svc session', './svc session list --follow', './svc session list --all --limit 200 --json'],
  })
    .option('-a, --all', 'also those in which nothing happened for a while')
    .option('-f, --follow', 'go on as they change')
    .option('--limit <count>', 'how many', wholeNumber(0, 999_999), 50)
    .option('--json', 'print JSON')
    .action((options: SessionsOptions) => list(options));
  defineCommand(noun, 'show', { summary: 'show one conversation', examples: ['./svc session show compat:c1:key'] })
    .argument('<key>', 'as ./svc session list --all shows it')
    .option('--json', 'print JSON')
    .action((key: string, options: Json) => run({ action: 'show', key, ...options }));
  addSet(noun, run);
}

function addSet(noun: Command, run: Run): void {
  defineCommand(noun, 'set', {
    summary: 'set the folder that a conversation works in',
    examples: ['./svc session set compat:c1:key --cwd ~/src/site', './svc session set compat:c1:key --cwd none'],
  })
    .argument('<key>', 'as ./svc session list --all shows it')
    .requiredOption('--cwd <dir>', 'a folder of this machine; "none" clears')
    .addOption(new Option('--for <policy>', 'tool policy from which on people work there').choices(folderPolicies))
    .option('--json', 'print JSON')
    .action((key: string, { cwd, ...options }: Json & { cwd: string; for?: FolderPolicy }) =>
      run({ action: 'set', key, cwd: cwd === 'none' ? null : cwd, ...options }),
    );
}
