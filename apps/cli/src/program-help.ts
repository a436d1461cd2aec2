import type { Argument, Command } from 'commander';
import { usualWidth, widthOf, wrap } from './terminal.ts';

/** How help and mistakes in the arguments look. Set before commands are added: they take it over. */
export function styleHelp(program: Command): void {
  program.configureHelp({ subcommandTerm: termOf }).configureOutput({
    outputError: (text, write) => write(renderUsageError(text, widthOf(process.stderr))),
  });
}

/** After a mistake in the arguments the help of that very command is named. */
export function pointToHelp(command: Command, words: string): void {
  command.showHelpAfterError(`Run: ${words} --help`);
  for (const each of command.commands) pointToHelp(each, `${words} ${each.name()}`);
}

/** `help NAME` is `NAME --help`, also of what is further down; a name that is none is left to be refused as one. */
export function withoutHelpCommand(program: Command, args: readonly string[]): readonly string[] {
  const [first, ...names] = args;
  if (first !== 'help' || names.length === 0) return args;
  return program.commands.some((command) => command.name() === names[0]) ? [...names, '--help'] : names;
}

/** A mistake in the arguments, as every other error: what it is, in lines that fit. */
export function renderUsageError(text: string, width = usualWidth): string {
  const said = text
    .replace(/^error: /, 'svc: ')
    .replace(/command-argument value '(.*?)' is invalid for argument '(.*?)'/, "'$1' is no $2");
  const lines = said.trimEnd().split('\n');
  return `${lines.flatMap((line) => wrap(line, width - indent.length)).join(`\n${indent}`)}\n`;
}

const indent = ' '.repeat(5);

/** The list of all commands has their names alone, that of a group also what they take. `[options]` says nothing, for all have some. */
function termOf(command: Command): string {
  const isTop = command.parent === null || command.parent.parent === null;
  return isTop ? command.name() : [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ');
}

function argumentTerm(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
