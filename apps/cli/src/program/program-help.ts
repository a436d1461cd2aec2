import { Help, type Command, type Option } from 'commander';
import { usualWidth, visible, widthOf, wrap } from '../terminal.ts';
import { argumentTerm } from './command-reference.ts';
import { pathOf } from './find-command.ts';

/** How help and mistakes in the arguments look. Set before commands are added: they take it over. */
export function styleHelp(program: Command): void {
  program.configureHelp({ subcommandTerm: termOf, visibleOptions }).configureOutput({
    outputError: (text, write) => write(renderUsageError(text, widthOf(process.stderr))),
  });
}

/** After a mistake in the arguments the help of that very command is named. A command "help" stands in no list: it is a word. */
export function pointToHelp(command: Command): void {
  command
    .helpCommand(false)
    .helpOption('-h, --help', 'show this help')
    .showHelpAfterError(`Run: ${pathOf(command)} --help`);
  for (const each of command.commands) pointToHelp(each);
}

/** A mistake in the arguments, as every other error: what it is, in lines that fit. */
export function renderUsageError(text: string, width = usualWidth): string {
  const said = visible(text)
    .replace(/^error: /, 'svc: ')
    .replace(/command-argument value '(.*?)' is invalid for argument '(.*?)'/, "'$1' cannot be used as $2");
  const lines = said.trimEnd().split('\n');
  return `${lines.flatMap((line) => wrap(line, width - indent.length)).join(`\n${indent}`)}\n`;
}

const indent = ' '.repeat(5);

/** The list of all commands is not kept waiting by options that everybody knows. */
function visibleOptions(this: Help, command: Command): Option[] {
  return command.parent === null ? [] : Help.prototype.visibleOptions.call(this, command);
}

/** The list of all commands has their names alone, that of a noun also what they take. `[options]` says nothing, for all have some. */
function termOf(command: Command): string {
  const isTop = command.parent === null || command.parent.parent === null;
  return isTop ? command.name() : [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ');
}
