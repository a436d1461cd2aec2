import type { Command } from 'commander';
import { defineCommand, defineDefault } from '../program/define-command.ts';

/** What `svc auth` is asked for. */
export type AuthRequest = { action: 'show' | 'setup' | 'reset'; json?: boolean };

/** Adds `auth`: the login of the operator, by the authority of who may write into the data folder. */
export function addAuthCommand(program: Command, run: (request: AuthRequest) => Promise<void>): void {
  const noun = defineCommand(program, 'auth', {
    summary: 'make a link that sets up the login of the operator',
    examples: ['./svc auth setup', './svc auth reset'],
  });
  defineDefault(noun, 'show', {
    summary: 'show whether a set-up link is good now',
    examples: ['./svc auth', './svc auth show --json'],
  })
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => run({ action: 'show', ...options }));
  const verbs = [
    ['setup', 'make the link for the first set-up, good once for 15 minutes'],
    ['reset', 'make a link that replaces a login that was lost'],
  ] as const;
  for (const [action, summary] of verbs) {
    defineCommand(noun, action, { summary, examples: [`./svc auth ${action}`] })
      .option('--json', 'print JSON')
      .action((options: { json?: boolean }) => run({ action, ...options }));
  }
}
