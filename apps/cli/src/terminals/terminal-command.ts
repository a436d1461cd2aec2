import type { Command } from 'commander';
import { defineCommand, defineDefault } from '../program/define-command.ts';

type Json = { json?: boolean };
export type StartOptions = Json & { engine?: string; cwd?: string; session?: string; attach?: boolean };
export type SendOptions = Json & { key?: string; enter: boolean };

/** The actions of `svc terminal`. `name`: of a terminal, or the key of its conversation. */
export type TerminalRequest = Json &
  (
    | { action: 'list' }
    | ({ action: 'start' } & StartOptions)
    | { action: 'attach'; name: string }
    | ({ action: 'send'; name: string; text: string } & SendOptions)
    | { action: 'end'; name: string; hard?: boolean }
  );

type Run = (request: TerminalRequest) => Promise<void>;

const nameHelp = 'a terminal or its conversation, as the list shows them';

/** Adds `terminal` and its subcommands. */
export function addTerminalCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'terminal', {
    summary: 'list the engines that run in terminals, start one, steer it',
    examples: ['./svc terminal start --engine claude', './svc terminal start --session KEY --attach', './svc terminal'],
  });
  defineDefault(noun, 'list', {
    summary: 'list them, also those that you started yourself',
    examples: ['./svc terminal', './svc terminal list --json'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list', ...options }));
  defineCommand(noun, 'start', {
    summary: 'start an engine in a terminal',
    examples: [
      './svc terminal start',
      './svc terminal start --engine codex --cwd ~/src/site',
      './svc terminal start --session messenger:m1:user:7 --attach',
    ],
  })
    .option('--engine <id>', 'which program (default: the default engine)')
    .option('--cwd <dir>', 'the folder it works in')
    .option('--session <key>', 'a conversation, which it takes over from its channel until it ends')
    .option('--attach', 'show it here at once')
    .option('--json', 'print JSON')
    .action((options: StartOptions) => run({ action: 'start', ...options }));
  defineCommand(noun, 'attach', { summary: 'open one in this terminal', examples: ['./svc terminal attach term_1k82'] })
    .argument('<terminal>', nameHelp)
    .action((name: string) => run({ action: 'attach', name }));
  addSend(noun, run);
  defineCommand(noun, 'end', {
    summary: 'stop what runs in one',
    examples: ['./svc terminal end term_1k82', './svc terminal end KEY --hard'],
  })
    .argument('<terminal>', nameHelp)
    .option('--hard', 'do not let it clean up first')
    .option('--json', 'print JSON')
    .action((name: string, options: Json & { hard?: boolean }) => run({ action: 'end', name, ...options }));
}

function addSend(noun: Command, run: Run): void {
  defineCommand(noun, 'send', {
    summary: 'send a line to one, or a key',
    examples: [
      './svc terminal send term_1k82 Run the tests',
      './svc terminal send term_1k82 --key Escape',
      './svc terminal send term_1k82 --no-enter a draft',
    ],
  })
    .argument('<terminal>', nameHelp)
    .argument('[text...]', 'as typed, followed by Enter')
    .option('--key <name>', 'one key instead: Enter, Escape, Up, C-c, …')
    .option('--no-enter', 'leave the text in the line')
    .option('--json', 'print JSON')
    .action((name: string, words: string[], options: SendOptions, self: Command) => {
      const text = words.join(' ');
      if ((text === '') === (options.key === undefined)) return self.error('error: it takes a text, or --key with one key.');
      return run({ action: 'send', name, text, ...options });
    });
}
