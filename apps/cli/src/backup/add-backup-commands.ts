import type { Command } from 'commander';
import type { BackupCommand } from '../commands/backup.ts';

/** The commands below `svc backup`. A passphrase is typed or piped in, never an argument. */
export function addBackupCommands(group: Command, run: (command: BackupCommand) => Promise<void>): void {
  const add = (name: string, description: string) =>
    group.command(name).description(description).allowExcessArguments(false).option('--json', 'print JSON');

  add('create', 'make a backup of everything but secrets')
    .option('--secrets', 'with the secrets, under a passphrase')
    .action((options) => run({ action: 'create', ...options }));
  add('list', 'list the backups, and what the next start does').action((options) => run({ action: 'list', ...options }));
  add('get <id> <file>', 'copy a backup to a file').action((id: string, file: string, options) =>
    run({ action: 'get', id, file, ...options }),
  );
  add('restore <backup>', 'check a backup, a file or an id, and put it in place at the next start')
    .option('--secrets', 'with its secrets, under their passphrase')
    .action((backup: string, options) => run({ action: 'restore', backup, ...options }));
  add('delete <id>', 'delete a backup').action((id: string, options) => run({ action: 'delete', id, ...options }));
  add('undo', 'cancel a restore, or bring back at the next start what it replaced').action((options) =>
    run({ action: 'undo', ...options }),
  );
}
