import { Option, type Command } from 'commander';
import { tiers, type Tier } from '@svc/contract/trust.ts';
import type { VaultCommand } from '../commands/vault.ts';
import { defineCommand, defineDefault } from '../program/define-command.ts';
import { tierParser } from '../tier-words.ts';

type Run = (command: VaultCommand) => Promise<void>;
type Json = { json?: boolean };

/** Adds `vault` and its subcommands. No command takes a secret as an argument, because the process list shows arguments. */
export function addVaultCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'vault', {
    summary: 'show whether the vault is open, open or close it, store secrets',
    examples: ['./svc vault init --write-env', './svc vault unseal', 'pass show github | ./svc vault put GITHUB_TOKEN'],
  });
  addState(noun, run);
  addSecrets(noun, run);
  addAgents(noun, run);
  addKeys(noun, run);
}

function addState(noun: Command, run: Run): void {
  defineDefault(noun, 'status', {
    summary: 'show whether it is open',
    examples: ['./svc vault', './svc vault status --json'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'status', ...options }));
  defineCommand(noun, 'init', {
    summary: 'set the vault up with a passphrase',
    examples: ['./svc vault init --write-env'],
  })
    .option('--write-env', 'write its address and keys into .env')
    .action((options: { writeEnv?: boolean }) => run({ action: 'init', ...options }));
  defineCommand(noun, 'unseal', {
    summary: 'open it with its passphrase',
    examples: ['./svc vault unseal', 'pass show vault | ./svc vault unseal'],
  }).action(() => run({ action: 'unseal' }));
  defineCommand(noun, 'seal', { summary: 'close it', examples: ['./svc vault seal'] }).action(() => run({ action: 'seal' }));
}

function addSecrets(noun: Command, run: Run): void {
  defineCommand(noun, 'list', {
    summary: 'list the names of the secrets',
    examples: ['./svc vault list', './svc vault list --json'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list', ...options }));
  defineCommand(noun, 'put', {
    summary: 'store a secret, typed or piped in',
    examples: ['./svc vault put GITHUB_TOKEN', 'pass show github | ./svc vault put GITHUB_TOKEN --min-trust trusted'],
  })
    .argument('<name>', 'such as GITHUB_TOKEN')
    .addOption(tierOption('--min-trust <tier>', 'who may have it').default('SACRED' satisfies Tier, 'owner'))
    .action((name: string, { minTrust }: { minTrust: Tier }) => run({ action: 'put', name, minTrust }));
  defineCommand(noun, 'remove', { summary: 'delete a secret', examples: ['./svc vault remove GITHUB_TOKEN'] })
    .argument('<name>', 'as the list shows it')
    .action((name: string) => run({ action: 'remove', name }));
  defineCommand(noun, 'log', { summary: 'show the access log', examples: ['./svc vault log', './svc vault log --json'] })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'log', ...options }));
}

function addAgents(noun: Command, run: Run): void {
  const agent = defineCommand(noun, 'agent', {
    summary: 'list who may read secrets, add or remove one',
    examples: ['./svc vault agent', './svc vault agent add reader --tier trusted', './svc vault agent remove reader'],
  });
  defineDefault(agent, 'list', {
    summary: 'list who may read secrets',
    examples: ['./svc vault agent', './svc vault agent list --json'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list-agents', ...options }));
  defineCommand(agent, 'add', {
    summary: 'register an agent, and print its key once',
    examples: ['./svc vault agent add reader --tier trusted'],
  })
    .argument('<name>', 'a-z, 0-9 and "-"')
    .addOption(tierOption('--tier <tier>', 'the highest trust of the secrets it gets').makeOptionMandatory())
    .option('--json', 'print JSON')
    .action((name: string, options: Json & { tier: Tier }) => run({ action: 'add-agent', name, ...options }));
  defineCommand(agent, 'remove', { summary: 'revoke the key of an agent', examples: ['./svc vault agent remove reader'] })
    .argument('<name>', 'as the list shows it')
    .action((name: string) => run({ action: 'remove-agent', name }));
}

function addKeys(noun: Command, run: Run): void {
  defineCommand(noun, 'rotate', { summary: 'replace the root key', examples: ['./svc vault rotate'] }).action(() =>
    run({ action: 'rotate' }),
  );
  defineCommand(noun, 'passphrase', { summary: 'change the passphrase', examples: ['./svc vault passphrase'] }).action(() =>
    run({ action: 'passphrase' }),
  );
}

const tierOption = (flags: string, description: string): Option =>
  new Option(flags, `${description}: owner, trusted, known or guest`).argParser(tierParser(tiers));
