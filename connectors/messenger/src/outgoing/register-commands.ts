import type { ChatCommandEntry } from '@svc/connector-kit';
import type { BotCall } from './bot-call.ts';

type BotCommand = { command: string; description: string };

const most = 100;
const longestDescription = 256;

/** Commands in Telegram's form: only lower-case letters, digits and `_`; others are left out. */
export const toBotCommands = (commands: readonly ChatCommandEntry[]): BotCommand[] =>
  commands
    .map(({ name, description }) => ({
      command: name.replaceAll('-', '_'),
      description: description.slice(0, longestDescription),
    }))
    .filter(({ command, description }) => /^[a-z0-9_]{1,32}$/.test(command) && description !== '')
    .slice(0, most);

type Menu = { scope: { type: 'default' | 'all_private_chats' | 'all_group_chats' }; commands: readonly ChatCommandEntry[] };

/** The menu of groups is short; the commands left out here still work when typed. */
const notForGroups: ReadonlySet<string> = new Set(['usage']);

/** Telegram shows the menu of the narrowest scope. Elsewhere, as in comments of a channel, there is none. */
const menusOf = (commands: readonly ChatCommandEntry[]): readonly Menu[] => [
  { scope: { type: 'all_private_chats' }, commands },
  { scope: { type: 'all_group_chats' }, commands: commands.filter(({ name }) => !notForGroups.has(name)) },
  { scope: { type: 'default' }, commands: [] },
];

/** Updates the bot's menus. A correct menu is left alone. Returns true when one was changed. */
export async function registerCommands(
  call: BotCall,
  commands: readonly ChatCommandEntry[],
  signal?: AbortSignal,
): Promise<boolean> {
  let isChanged = false;
  for (const menu of menusOf(commands)) isChanged = (await setMenu(call, menu, signal)) || isChanged;
  return isChanged;
}

async function setMenu(call: BotCall, { scope, commands }: Menu, signal?: AbortSignal): Promise<boolean> {
  const wanted = toBotCommands(commands);
  const there = await call<BotCommand[]>('getMyCommands', { scope }, signal);
  const isSame = there.length === wanted.length && wanted.every((each, index) => isEqual(each, there[index]));
  if (isSame) return false;
  if (wanted.length === 0) await call('deleteMyCommands', { scope }, signal);
  else await call('setMyCommands', { scope, commands: wanted }, signal);
  return true;
}

const isEqual = (a: BotCommand, b: BotCommand | undefined): boolean =>
  a.command === b?.command && a.description === b.description;
