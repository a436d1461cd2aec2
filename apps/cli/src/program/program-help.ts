import { Help, type Command, type Option } from 'commander';
import { usualWidth, visible, widthOf, wrap } from '../terminal.ts';
import { argumentTerm } from './command-reference.ts';
import { pathOf } from './find-command.ts';

/** The format of help and usage errors. Set before commands are added, because they inherit it. */
export function styleHelp(program: Command): void {
  program.configureHelp({ subcommandTerm: termOf, visibleOptions }).configureOutput({
    outputError: (text, write) => write(renderUsageError(text, widthOf(process.stderr))),
  });
}

/** A usage error names the help of its command. The command "help" is not listed: it is handled as a word. */
export function pointToHelp(command: Command): void {
  command
    .helpCommand(false)
    .helpOption('-h, --help', 'show this help')
    .showHelpAfterError(`Run: ${pathOf(command)} --help`);
  for (const each of command.commands) pointToHelp(each);
}

/** Prints a usage error like any other: the message, wrapped to the width. */
export function renderUsageError(text: string, width = usualWidth): string {
  const said = visible(text)
    .replace(/^error: /, 'svc: ')
    .replace(/command-argument value '(.*?)' is invalid for argument '(.*?)'/, "'$1' cannot be used as $2");
  const lines = said.trimEnd().split('\n');
  return `${lines.flatMap((line) => wrap(line, width - indent.length)).join(`\n${indent}`)}\n`;
}

const indent = ' '.repeat(5);

/** The top-level help omits the options (`--help`, `--version`), so that the commands come at once. */
function visibleOptions(this: Help, command: Command): Option[] {
  return command.parent === null ? [] : Help.prototype.visibleOptions.call(this, command);
}

/** The list shows names only, with arguments for nouns. `[options]` is left out, because every command has some. */
function termOf(command: Command): string {
  const isTop = command.parent === null || command.parent.parent === null;
  return isTop ? command.name() : [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ');
}
