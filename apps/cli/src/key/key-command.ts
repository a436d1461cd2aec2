import { InvalidArgumentError, type Command } from 'commander';
import { defineCommand, defineDefault, withConnector } from '../program/define-command.ts';

type Json = { json?: boolean };
/** `connector`: name or id, where there are several chat completions APIs. */
type Of = Json & { connector?: string };

/** The actions of `svc key`. */
export type KeyRequest = Of &
  (
    | { action: 'list' }
    /** `for`: key of the person it acts for. `budget`: USD per calendar month. */
    | { action: 'create'; name: string; for?: string; budget?: number }
    | { action: 'revoke'; name: string }
  );

type Run = (request: KeyRequest) => Promise<void>;

/** Adds `key` and its subcommands. */
export function addKeyCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'key', {
    summary: 'list the keys of the chat completions API, make and revoke them',
    examples: ['./svc key create laptop --for anna --budget 20', './svc key', './svc key revoke laptop'],
  });
  withConnector(
    defineDefault(noun, 'list', {
      summary: 'list the keys, without the keys themselves',
      examples: ['./svc key', './svc key list --json'],
    }),
  ).action((options: Of) => run({ action: 'list', ...options }));
  withConnector(
    defineCommand(noun, 'create', {
      summary: 'make a key, and show it this once',
      examples: ['./svc key create laptop', './svc key create ci --for anna --budget 20/month'],
    })
      .argument('<name>', 'its name, which is the sender of its messages')
      .option('-f, --for <person>', 'the person it acts for, with their rights (default: the owner)')
      .option('-b, --budget <usd>', 'what it may spend per calendar month, in USD', parseBudget),
  ).action((name: string, options: Of & { for?: string; budget?: number }) => run({ action: 'create', name, ...options }));
  withConnector(
    defineCommand(noun, 'revoke', {
      summary: 'revoke a key, immediately and permanently',
      examples: ['./svc key revoke laptop'],
    }).argument('<name>', 'as the list shows it'),
  ).action((name: string, options: Of) => run({ action: 'revoke', name, ...options }));
}

/** `20`, `$20`, `0.50/month`. */
export function parseBudget(text: string): number {
  const amount = /^\$?(\d{1,7}(?:\.\d{1,4})?)(?:\/month)?$/.exec(text)?.[1];
  if (amount === undefined) throw new InvalidArgumentError('It takes USD for a month, such as 20 or 0.50/month.');
  return Number(amount);
}
