import { InvalidArgumentError, type Command } from 'commander';

/** What the help says of a command: one line that begins with a verb, and how it is used. */
type Help = { summary: string; examples: readonly string[] };

/** Adds a command to the program, or to a noun. */
export function defineCommand(parent: Command, name: string, help: Help): Command {
  return withHelp(parent.command(name), help);
}

/** Adds what a noun does when it stands alone: it lists or shows. */
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

/** For commands on what one connector has. */
export const withConnector = (command: Command): Command =>
  command.option('-c, --connector <name>', 'the connector, where there are several').option('--json', 'print JSON');
