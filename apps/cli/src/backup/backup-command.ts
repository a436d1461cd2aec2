import type { Command } from 'commander';
import type { BackupCommand } from '../commands/backup.ts';
import { defineCommand, defineDefault } from '../program/define-command.ts';

type Run = (command: BackupCommand) => Promise<void>;

/** Adds `backup` and its subcommands. A passphrase is typed or piped in, never an argument. */
export function addBackupCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'backup', {
    summary: 'list the backups, make, copy or restore one',
    examples: ['./svc backup create', './svc backup get bak_1 gateway.tar.gz', './svc backup restore gateway.tar.gz'],
  });
  addList(noun, run);
  addCreate(noun, run);
  addRestore(noun, run);
}

function addList(noun: Command, run: Run): void {
  defineDefault(noun, 'list', {
    summary: 'list the backups, and what the next start does',
    examples: ['./svc backup', './svc backup list --json'],
  })
    .option('--json', 'print JSON')
    .action((options) => run({ action: 'list', ...options }));
  defineCommand(noun, 'get', { summary: 'copy a backup to a file', examples: ['./svc backup get bak_1 gateway.tar.gz'] })
    .argument('<id>', 'as the list shows it')
    .argument('<file>', 'where the copy goes; nothing is overwritten')
    .option('--json', 'print JSON')
    .action((id: string, file: string, options) => run({ action: 'get', id, file, ...options }));
}

function addCreate(noun: Command, run: Run): void {
  defineCommand(noun, 'create', {
    summary: 'make a backup of everything but secrets',
    examples: ['./svc backup create', './svc backup create --secrets'],
  })
    .option('--secrets', 'with the secrets, encrypted with a passphrase')
    .option('--json', 'print JSON')
    .action((options) => run({ action: 'create', ...options }));
  defineCommand(noun, 'remove', { summary: 'delete a backup', examples: ['./svc backup remove bak_1'] })
    .argument('<id>', 'as the list shows it')
    .option('--json', 'print JSON')
    .action((id: string, options) => run({ action: 'remove', id, ...options }));
}

function addRestore(noun: Command, run: Run): void {
  defineCommand(noun, 'restore', {
    summary: 'check a backup, and restore it at the next start',
    examples: ['./svc backup restore bak_1', './svc backup restore gateway.tar.gz --secrets'],
  })
    .argument('<backup>', 'a file, or an id')
    .option('--secrets', 'with its secrets, which need their passphrase')
    .option('--json', 'print JSON')
    .action((backup: string, options) => run({ action: 'restore', backup, ...options }));
  defineCommand(noun, 'undo', {
    summary: 'cancel a restore, or undo it',
    examples: ['./svc backup undo'],
  })
    .option('--json', 'print JSON')
    .action((options) => run({ action: 'undo', ...options }));
}
