import type { Command } from 'commander';
import { personaTiers } from '@svc/contract/persona.ts';
import type { PersonaOptions } from '../commands/persona.ts';
import { defineCommand, defineDefault } from '../program/define-command.ts';
import type { Run } from '../program/lazy-commands.ts';
import { tierParser } from '../tier-words.ts';

/** Adds `persona` and its subcommands. */
export function addPersonaCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'persona', {
    summary: 'show the persona of the assistant, or edit it',
    examples: ['./svc persona', './svc persona edit', './svc persona show --engine codex --tier guest'],
  });
  defineDefault(noun, 'show', {
    summary: 'show it, for all engines or as one makes it',
    examples: ['./svc persona', './svc persona --engine codex --tier guest'],
  })
    .option('--engine <id>', 'what this engine gives its model, and what its program adds')
    .option('--tier <tier>', 'in a turn of: owner, trusted, known or guest', tierParser(personaTiers))
    .option('--json', 'print JSON')
    .action((options: PersonaOptions) => run.showPersona(options));
  defineCommand(noun, 'edit', {
    summary: 'open your own part of it in an editor',
    examples: ['./svc persona edit', 'EDITOR=nano ./svc persona edit'],
  })
    .option('--json', 'print the result as JSON')
    .action((options: { json?: boolean }) => run.editPersona(options));
}
