import { InvalidArgumentError, type Command } from 'commander';
import { defineCommand, defineDefault } from '../program/define-command.ts';

type Json = { json?: boolean };

/** The actions of `svc spend`. */
export type SpendRequest = Json &
  (
    | { action: 'show' }
    /** USD per calendar month; null removes the budget. */
    | { action: 'budget'; channel: string; sender: string; monthUsd: number | null }
  );

/** USD per 1,000,000 tokens. Omitted prices stay as they are. */
export type NewPrice = { in?: number; out?: number; cacheRead?: number; cacheWrite?: number; cacheWrite1h?: number };

/** The actions of `svc price`. */
export type PriceRequest = Json &
  (
    | { action: 'list'; model: string | null }
    | { action: 'set'; model: string; price: NewPrice }
    | { action: 'remove'; model: string }
    | { action: 'reload' }
  );

type Run<Request> = (request: Request) => Promise<void>;

/** Adds `spend` and its subcommands. */
export function addSpendCommand(program: Command, run: Run<SpendRequest>): void {
  const noun = defineCommand(program, 'spend', {
    summary: 'show what was spent, and by whom, or set a budget',
    examples: ['./svc spend', './svc spend budget compat laptop 20'],
  });
  defineDefault(noun, 'show', {
    summary: 'show the limits, and who spent how much',
    examples: ['./svc spend', './svc spend show --json'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'show', ...options }));
  defineCommand(noun, 'budget', {
    summary: 'set what a sender may spend a month',
    examples: ['./svc spend budget compat laptop 20', './svc spend budget compat laptop none'],
  })
    .argument('<channel>', 'such as compat')
    .argument('<sender>', 'as the channel names them, such as the name of a key')
    .argument('<usd>', 'such as 20 or 0.50; "none" removes it', (text: string) => (text === 'none' ? null : usd(text)))
    .option('--json', 'print JSON')
    .action((channel: string, sender: string, monthUsd: number | null, options: Json) =>
      run({ action: 'budget', channel, sender, monthUsd, ...options }),
    );
}

/** Adds `price` and its subcommands. */
export function addPriceCommand(program: Command, run: Run<PriceRequest>): void {
  const noun = defineCommand(program, 'price', {
    summary: 'list what models cost, or set a price of your own',
    examples: ['./svc price', './svc price set qwen3 --in 0.1 --out 0.4'],
  });
  defineDefault(noun, 'list', {
    summary: 'list the prices in force, and the models without one',
    examples: ['./svc price', './svc price list gpt-5', './svc price list --json'],
  })
    .argument('[model]', 'how its name begins')
    .option('--json', 'print JSON')
    .action((model: string | undefined, options: Json) => run({ action: 'list', model: model ?? null, ...options }));
  defineCommand(noun, 'set', {
    summary: 'set what a model costs, in USD for a million tokens',
    examples: ['./svc price set qwen3 --in 0.1 --out 0.4', './svc price set my-model --in 0 --out 0'],
  })
    .argument('<model>', 'its name, or how the names of several begin')
    .option('--in <usd>', 'what it reads', usd)
    .option('--out <usd>', 'what it writes', usd)
    .option('--cache-read <usd>', 'what it reads from its cache', usd)
    .option('--cache-write <usd>', 'what it puts into its cache', usd)
    .option('--cache-write-1h <usd>', 'what it puts into its cache for an hour', usd)
    .option('--json', 'print JSON')
    .action((model: string, { json, ...price }: NewPrice & Json, self: Command) => {
      if (Object.keys(price).length === 0) return self.error('error: name a price, with --in, --out or one for the cache');
      return run({ action: 'set', model, price, json });
    });
  defineCommand(noun, 'remove', {
    summary: 'remove a price of your own',
    examples: ['./svc price remove qwen3'],
  })
    .argument('<model>', 'as it was set')
    .option('--json', 'print JSON')
    .action((model: string, options: Json) => run({ action: 'remove', model, ...options }));
  defineCommand(noun, 'reload', {
    summary: 'use the price file as it is now',
    examples: ['./svc price reload'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'reload', ...options }));
}

/** `20`, `$0.50`. */
function usd(text: string): number {
  const amount = /^\$?(\d{1,7}(?:\.\d{1,6})?)$/.exec(text)?.[1];
  if (amount === undefined) throw new InvalidArgumentError('It takes USD, such as 20 or 0.50.');
  return Number(amount);
}
