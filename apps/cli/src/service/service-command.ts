import type { Command } from 'commander';
import { defineCommand, defineDefault } from '../program/define-command.ts';
import type { Run } from '../program/lazy-commands.ts';

/** Adds `service` and its subcommands. */
export function addServiceCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'service', {
    summary: 'start the service with the machine, or stop doing so',
    examples: ['./svc service', './svc service install', './svc service remove'],
  });
  defineDefault(noun, 'status', {
    summary: 'show whether it starts automatically',
    examples: ['./svc service', './svc service status --json'],
  })
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExits with 0: it runs as a service, 3: it does not.')
    .action((options: { json?: boolean }) => run.service('status', options));
  defineCommand(noun, 'install', {
    summary: 'have systemd or launchd run it, now and after each login',
    examples: ['./svc service install'],
  }).action(() => run.service('install', {}));
  defineCommand(noun, 'remove', {
    summary: 'stop it and turn automatic start off; the data stays',
    examples: ['./svc service remove'],
  }).action(() => run.service('remove', {}));
}

/** Adds `uninstall`. */
export function addUninstallCommand(program: Command, run: Run): void {
  defineCommand(program, 'uninstall', {
    summary: 'remove what was set up here, and on request the data',
    examples: ['./svc uninstall', './svc uninstall --data'],
  })
    .option('--data', 'the data folder too: conversations, people, secrets, backups in it')
    .option('-y, --yes', 'do not ask')
    .action((options: { data?: boolean; yes?: boolean }) => run.uninstall(options));
}
