import type { Command } from 'commander';
import { defineCommand, defineDefault, withConnector } from '../program/define-command.ts';

/** `connector`: name or id, where there are several MCP servers. */
type Of = { connector?: string; json?: boolean };

/** The actions of `svc toolserver`. */
export type ToolserverRequest = Of &
  (
    | { action: 'clients' }
    /** `as`: key of the person for whom the program that uses the code acts. `client`: the only program that may use it. */
    | { action: 'approve'; as?: string; client?: string }
    | { action: 'revoke'; client: string }
  );

type Run = (request: ToolserverRequest) => Promise<void>;

/** Adds `toolserver` and its subcommands. */
export function addToolserverCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'toolserver', {
    summary: 'list the programs that connect over MCP, let them in, revoke them',
    examples: ['./svc toolserver', './svc toolserver approve --as owner', './svc toolserver revoke CLIENT'],
  });
  withConnector(
    defineDefault(noun, 'clients', {
      summary: 'list the programs with access, and those that are waiting',
      examples: ['./svc toolserver', './svc toolserver clients --json'],
    }),
  ).action((options: Of) => run({ action: 'clients', ...options }));
  withConnector(
    defineCommand(noun, 'approve', {
      summary: 'print a code for the page that a program has opened',
      examples: ['./svc toolserver approve', './svc toolserver approve --as owner'],
    })
      .option('--as <person>', 'the person that the program with the code speaks for')
      .option('--client <id>', 'limit the code to this program'),
  ).action((options: Of & { as?: string; client?: string }) => run({ action: 'approve', ...options }));
  withConnector(
    defineCommand(noun, 'revoke', {
      summary: 'revoke the access of a program, immediately',
      examples: ['./svc toolserver revoke CLIENT'],
    }).argument('<client>', 'its id, or its name if no other program has the same'),
  ).action((client: string, options: Of) => run({ action: 'revoke', client, ...options }));
}
