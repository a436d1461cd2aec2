import type { Argument, Command } from 'commander';
import { pathOf } from './find-command.ts';

/** Every command, each noun before what belongs to it. */
export const commandsBelow = (command: Command): Command[] => command.commands.flatMap((each) => [each, ...commandsBelow(each)]);

/** What follows a command's name, as help and reference write it. */
export function argumentTerm(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** The page of all commands, by group. */
export function renderReference(program: Command): string {
  const groups = [...new Set(program.commands.map((command) => command.helpGroup()))];
  const sections = groups.flatMap((group) => [
    `## ${group.replace(':', '')}`,
    '',
    '| command | what it does |',
    '|---|---|',
    ...program.commands
      .filter((command) => command.helpGroup() === group)
      .flatMap((command) => [command, ...commandsBelow(command)])
      .map(row),
    '',
  ]);
  return [...head, ...sections].join('\n');
}

const head = [
  '# Commands',
  '',
  'Nouns with verbs, such as `./svc engine install codex`; a noun alone lists or shows. `--help` after any of them shows its options, with',
  'examples. Lists take `--json`. A command ends with 0, with 1 when it failed, and with 2 when it was not understood.',
  '',
  'Written by `scripts/write-command-reference.ts` from what `./svc --help` shows.',
  '',
];

function row(command: Command): string {
  const words = [pathOf(command), ...command.registeredArguments.map(argumentTerm)].join(' ').replaceAll('|', '\\|');
  return `| \`${words}\` | ${command.description()} |`;
}
