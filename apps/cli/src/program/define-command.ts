import { InvalidArgumentError, type Command } from 'commander';

/** The help of a command: one line that begins with a verb, and examples. */
type Help = { summary: string; examples: readonly string[] };

/** Adds a command to the program, or to a noun. */
export function defineCommand(parent: Command, name: string, help: Help): Command {
  return withHelp(parent.command(name), help);
}

/** Adds the action of a noun without a verb: it lists or shows. */
export function defineDefault(noun: Command, name: string, help: Help): Command {
  return withHelp(noun.command(name, { isDefault: true }), help);
}

function withHelp(command: Command, { summary, examples }: Help): Command {
  return command.description(summary).addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'));
}

/** An option that takes a whole number. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    if (/^\d{1,7}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`It takes a whole number from ${least} to ${most}.`);
  };

/** The option of commands that work on one connector. */
export const withConnector = (command: Command): Command =>
  command.option('-c, --connector <name>', 'the connector, where there are several').option('--json', 'print JSON');
