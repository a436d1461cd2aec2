import { Option, type Command } from 'commander';
import { tiers } from '@svc/contract/trust.ts';
import type { VaultCommand } from '../commands/vault.ts';

/** The commands below `svc vault`. None takes a secret as an argument: those show in the list of processes. */
export function addVaultCommands(group: Command, run: (command: VaultCommand) => Promise<void>): void {
  const add = (name: string, description: string) => group.command(name).description(description).allowExcessArguments(false);
  const tier = (flags: string, description: string) => new Option(flags, description).choices(tiers);

  add('init', 'set the vault up with a passphrase')
    .option('--write-env', 'write its address and keys into .env')
    .action((options) => run({ action: 'init', ...options }));
  add('unseal', 'open it with its passphrase').action(() => run({ action: 'unseal' }));
  add('seal', 'close it').action(() => run({ action: 'seal' }));
  add('status', 'say whether it is open')
    .option('--json', 'print JSON')
    .action((options) => run({ action: 'status', ...options }));
  add('put <name>', 'store a secret, typed or piped in')
    .addOption(tier('--min-trust <tier>', 'who may have it').default('SACRED'))
    .action((name: string, { minTrust }: { minTrust: string }) => run({ action: 'put', name, minTrust }));
  add('delete <name>', 'delete a secret').action((name: string) => run({ action: 'delete', name }));
  add('list', 'list the names of the secrets')
    .option('--json', 'print JSON')
    .action((options) => run({ action: 'list', ...options }));
  add('agent [name]', 'list who may ask for secrets, or register somebody')
    .addOption(tier('--tier <tier>', 'up to what trust'))
    .option('--revoke', 'let them ask no more')
    .option('--json', 'print JSON')
    .action((name: string | undefined, options) => run({ action: 'agent', name: name ?? null, ...options }));
  add('rotate', 'replace the root key').action(() => run({ action: 'rotate' }));
  add('passphrase', 'change the passphrase').action(() => run({ action: 'passphrase' }));
  add('log', 'show who asked for what')
    .option('--json', 'print JSON')
    .action((options) => run({ action: 'log', ...options }));
}
