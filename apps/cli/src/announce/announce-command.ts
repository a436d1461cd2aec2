import type { Command } from 'commander';
import { defineCommand, defineDefault } from '../program/define-command.ts';
import { until } from '../program/parse-time.ts';

type Json = { json?: boolean };
export type AddOptions = Json & { to?: string; urgent?: boolean; until?: number; from?: string };

/** The actions of `svc announce`. `until`: epoch ms. */
export type AnnounceRequest = Json &
  ({ action: 'list' } | ({ action: 'add'; text: string } & AddOptions) | { action: 'remove'; ids: string[] });

type Run = (request: AnnounceRequest) => Promise<void>;

/** Adds `announce` and its subcommands. */
export function addAnnounceCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'announce', {
    summary: 'list the notes that conversations read at their next turn, add one',
    examples: [
      './svc announce add The printer is out of paper. --until 8h',
      './svc announce add "Call me back" --to identity:anna --urgent',
      './svc announce remove 12',
    ],
  });
  defineDefault(noun, 'list', {
    summary: 'list the live notes',
    examples: ['./svc announce', './svc announce list --json'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list', ...options }));
  defineCommand(noun, 'add', {
    summary: 'add a note, for all conversations or some',
    examples: ['./svc announce add The printer is out of paper.', './svc announce add "Back at noon" --to surface:messenger'],
  })
    .argument('<text...>', 'the note')
    .option('-t, --to <target>', 'surface:CHANNEL, identity:PERSON or a conversation')
    .option('--urgent', 'show it before the others')
    .option('-u, --until <date>', '2026-12-31, "2026-12-31 18:00" or a time from now such as 8h', until)
    .option('--from <label>', 'who posts it')
    .option('--json', 'print JSON')
    .action((words: string[], options: AddOptions) => run({ action: 'add', text: words.join(' '), ...options }));
  defineCommand(noun, 'remove', { summary: 'remove notes', examples: ['./svc announce remove 12'] })
    .argument('<ids...>', 'as the list shows them')
    .option('--json', 'print JSON')
    .action((ids: string[], options: Json) => run({ action: 'remove', ids, ...options }));
}
