import type { Command } from 'commander';
import { defineCommand, defineDefault } from '../program/define-command.ts';

/** The actions of `svc auth`. */
export type AuthRequest = { json?: boolean } & (
  | { action: 'show' | 'setup' | 'reset' | 'sessions' }
  /** `id`: null for all sessions. */
  | { action: 'end'; id: string | null }
);

/** Adds `auth`, which manages the operator's login. Write access to the data folder is the only authorization. */
export function addAuthCommand(program: Command, run: (request: AuthRequest) => Promise<void>): void {
  const noun = defineCommand(program, 'auth', {
    summary: 'make a link that sets up the login, list its sessions, end them',
    examples: ['./svc auth setup', './svc auth sessions', './svc auth end --all'],
  });
  defineDefault(noun, 'show', {
    summary: 'show whether a set-up link is valid',
    examples: ['./svc auth', './svc auth show --json'],
  })
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => run({ action: 'show', ...options }));
  const verbs = [
    ['setup', 'make the link for the first set-up; it works once, for 15 minutes'],
    ['reset', 'make a link that replaces a lost login'],
  ] as const;
  for (const [action, summary] of verbs) {
    defineCommand(noun, action, { summary, examples: [`./svc auth ${action}`] })
      .option('--json', 'print JSON')
      .action((options: { json?: boolean }) => run({ action, ...options }));
  }
  defineCommand(noun, 'sessions', {
    summary: 'list where people are signed in',
    examples: ['./svc auth sessions', './svc auth sessions --json'],
  })
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => run({ action: 'sessions', ...options }));
  defineCommand(noun, 'end', {
    summary: 'stop a login session, or all of them, immediately',
    examples: ['./svc auth end login-7k2', './svc auth end --all'],
  })
    .argument('[id]', 'as the list of sessions shows it')
    .option('--all', 'every one')
    .option('--json', 'print JSON')
    .action((id: string | undefined, { all = false, ...options }: { all?: boolean; json?: boolean }, command: Command) => {
      if ((id === undefined) === !all) command.error('error: name a session, or give --all', { exitCode: 2 });
      return run({ action: 'end', id: id ?? null, ...options });
    });
}
