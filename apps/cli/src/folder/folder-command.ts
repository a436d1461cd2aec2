import { Option, type Command } from 'commander';
import { folderTiers } from '@svc/contract/folder.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { defineCommand, defineDefault } from '../program/define-command.ts';
import { tierParser } from '../tier-words.ts';

/** What a folder is set for: exactly one of these. `instance`: a name or an id. */
export type FolderTarget = { instance?: string; channel?: string; tier?: string };
type Json = { json?: boolean };

/** The actions of `svc folder`. */
export type FolderRequest = Json &
  (
    | { action: 'list' }
    | { action: 'set'; folder: string; target: FolderTarget }
    | { action: 'clear'; target: FolderTarget }
    | { action: 'trust' | 'untrust'; folder: string }
  );

type Run<Request> = (request: Request) => Promise<void>;
type Targeted = { instance?: string; channel?: string; tier?: Tier } & Json;

/** Adds `folder` and its subcommands. */
export function addFolderCommand(program: Command, run: Run<FolderRequest>): void {
  const noun = defineCommand(program, 'folder', {
    summary: 'list the folders that conversations work in, set or trust one',
    examples: ['./svc folder set ~/src/site --instance work', './svc folder trust ~/src/site'],
  });
  defineDefault(noun, 'list', {
    summary: 'list what is set and trusted, and what is wrong with it',
    examples: ['./svc folder', './svc folder list --json'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list', ...options }));
  addSet(noun, run);
  addTrust(noun, 'trust', 'let the tool servers, hooks and settings of a folder run', run);
  addTrust(noun, 'untrust', 'stop trusting a folder', run);
}

function addSet(noun: Command, run: Run<FolderRequest>): void {
  const withTarget = (made: Command) =>
    made
      .addOption(new Option('-i, --instance <name>', 'for a connector: its name or id').conflicts(['channel', 'tier']))
      .addOption(new Option('-c, --channel <name>', 'for a channel, such as compat').conflicts(['instance', 'tier']))
      .addOption(
        new Option('-t, --tier <tier>', 'for people who are: owner, trusted, known or guest').argParser(tierParser(folderTiers)),
      )
      .option('--json', 'print JSON');
  withTarget(
    defineCommand(noun, 'set', {
      summary: 'work in a folder from the next turn on',
      examples: ['./svc folder set ~/src/site --instance work', './svc folder set ~/shared --tier trusted'],
    }).argument('<dir>', 'a folder of this machine'),
  ).action((dir: string, { json, ...target }: Targeted, self: Command) =>
    run({ action: 'set', folder: dir, target: oneOf(target, self), json }),
  );
  withTarget(
    defineCommand(noun, 'clear', {
      summary: 'work in the usual folder again',
      examples: ['./svc folder clear --instance work'],
    }),
  ).action(({ json, ...target }: Targeted, self: Command) => run({ action: 'clear', target: oneOf(target, self), json }));
}

function addTrust(noun: Command, action: 'trust' | 'untrust', summary: string, run: Run<FolderRequest>): void {
  defineCommand(noun, action, { summary, examples: [`./svc folder ${action} ~/src/site`] })
    .argument('<dir>', 'a folder of this machine')
    .option('--json', 'print JSON')
    .action((dir: string, options: Json) => run({ action, folder: dir, ...options }));
}

function oneOf(target: FolderTarget, command: Command): FolderTarget {
  if (Object.values(target).filter((value) => value !== undefined).length === 1) return target;
  return command.error('error: say what the folder is for, with one of --instance, --channel and --tier');
}
