import type { Command } from 'commander';
import type { DeliveriesOptions } from '../commands/deliveries.ts';
import { defineCommand, defineDefault } from '../program/define-command.ts';
import type { DeliveryAction } from './delivery-api.ts';

type Run = (action: DeliveryAction | null, ids: readonly string[], options: DeliveriesOptions) => Promise<void>;

/** Adds `delivery` and its subcommands. */
export function addDeliveryCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'delivery', {
    summary: 'list the replies that did not arrive, retry or dismiss them',
    examples: ['./svc delivery', './svc delivery retry all', './svc delivery dismiss dlv_1 dlv_2'],
  });
  defineDefault(noun, 'list', {
    summary: 'list the replies that did not arrive',
    examples: ['./svc delivery', './svc delivery list --all --json'],
  })
    .option('--all', 'also the delivered ones')
    .option('--json', 'print JSON')
    .action((options: DeliveriesOptions) => run(null, [], options));
  addChange(noun, 'retry', 'send some of them again', run);
  addChange(noun, 'dismiss', 'take failed ones off the list', run);
}

function addChange(noun: Command, action: DeliveryAction, summary: string, run: Run): void {
  defineCommand(noun, action, { summary, examples: [`./svc delivery ${action} dlv_1`, `./svc delivery ${action} all`] })
    .argument('<ids...>', 'as the list shows them, or "all"')
    .option('--json', 'print JSON')
    .action((ids: string[], options: DeliveriesOptions) => run(action, ids, options));
}
