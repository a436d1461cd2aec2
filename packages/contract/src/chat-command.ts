import type { Tier } from './trust.ts';

/** Something that may follow the name of a chat command, apart by a blank. */
export type ChatCommandArgument = { name: string; description: string; required: boolean };

/** A message that is `/name` and its arguments is for the core, on every channel; platforms with a menu of commands can list them. */
export type ChatCommandEntry = {
  name: string;
  /** What it does, for a menu. */
  description: string;
  /** The least tier that may use it. */
  floor: Tier;
  /** It takes its place behind the running turn; the others answer at once. */
  waits: boolean;
  args: readonly ChatCommandArgument[];
};

/** The chat commands of the core. */
export const chatCommands = [
  { name: 'new', description: 'begin a new conversation', floor: 'KNOWN', waits: true, args: [] },
  { name: 'stop', description: 'stop the running turn', floor: 'KNOWN', waits: false, args: [] },
  { name: 'status', description: 'show what is going on here', floor: 'GUEST', waits: false, args: [] },
  { name: 'usage', description: 'show the tokens of this conversation', floor: 'GUEST', waits: false, args: [] },
  { name: 'help', description: 'show the commands', floor: 'GUEST', waits: false, args: [] },
] as const satisfies readonly ChatCommandEntry[];

export type ChatCommandName = (typeof chatCommands)[number]['name'];

/** A list of commands to read, a line each, names in one column. */
export function describeChatCommands(commands: readonly ChatCommandEntry[]): string {
  const rows = commands.map(({ name, args, description }) => [[`/${name}`, ...args.map(shownArgument)].join(' '), description]);
  const width = Math.max(0, ...rows.map(([usage = '']) => usage.length));
  return rows.map(([usage = '', description = '']) => `${usage.padEnd(width)}  ${description}`).join('\n');
}

const shownArgument = ({ name, required }: ChatCommandArgument): string => {
  const shown = name.toUpperCase();
  return required ? shown : `[${shown}]`;
};
