import type { Command } from 'commander';
import type { Tier } from '@svc/contract/trust.ts';
import { tiers } from '@svc/contract/trust.ts';
import { defineCommand, defineDefault } from '../program/define-command.ts';
import { tierParser } from '../tier-words.ts';

type Json = { json?: boolean };

/** The actions of `svc secret`. Values are not arguments: they are typed or piped in. */
export type SecretRequest = Json &
  ({ action: 'list' } | { action: 'set'; name: string; minTrust?: Tier } | { action: 'remove'; name: string });

type Run = (request: SecretRequest) => Promise<void>;

/** Adds `secret` and its subcommands. */
export function addSecretCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'secret', {
    summary: 'list the names of secrets, set or remove one',
    examples: ['./svc secret', './svc secret set GITHUB_TOKEN', 'pass show github | ./svc secret set GITHUB_TOKEN'],
  });
  defineDefault(noun, 'list', {
    summary: 'list the names of secrets, where each is stored and who uses it',
    examples: ['./svc secret', './svc secret list --json'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list', ...options }));
  defineCommand(noun, 'set', {
    summary: 'set a secret, typed or piped in',
    examples: ['./svc secret set GITHUB_TOKEN', 'pass show github | ./svc secret set GITHUB_TOKEN'],
  })
    .argument('<name>', 'such as GITHUB_TOKEN')
    .option('-t, --tier <tier>', 'the least trust it needs, in a vault: owner, trusted, known or guest', tierParser(tiers))
    .option('--json', 'print JSON')
    .action((name: string, { tier, json }: { tier?: Tier } & Json) => run({ action: 'set', name, minTrust: tier, json }));
  defineCommand(noun, 'remove', {
    summary: 'remove a secret from the secrets file',
    examples: ['./svc secret remove GITHUB_TOKEN'],
  })
    .argument('<name>', 'as the list shows it')
    .option('--json', 'print JSON')
    .action((name: string, options: Json) => run({ action: 'remove', name, ...options }));
}
