import type { ChatCommandEntry } from '@svc/connector-kit';
import type { BotCall } from './bot-call.ts';

type BotCommand = { command: string; description: string };

const most = 100;
const longestDescription = 256;

/** As Telegram lists them: small letters, digits and `_` alone; what cannot be written so is left out. */
export const toBotCommands = (commands: readonly ChatCommandEntry[]): BotCommand[] =>
  commands
    .map(({ name, description }) => ({
      command: name.replaceAll('-', '_'),
      description: description.slice(0, longestDescription),
    }))
    .filter(({ command, description }) => /^[a-z0-9_]{1,32}$/.test(command) && description !== '')
    .slice(0, most);

/** Makes the menu of the bot what it is to be. One that is so already is left alone. True when it was changed. */
export async function registerCommands(
  call: BotCall,
  commands: readonly ChatCommandEntry[],
  signal?: AbortSignal,
): Promise<boolean> {
  const wanted = toBotCommands(commands);
  const there = await call<BotCommand[]>('getMyCommands', {}, signal);
  const isSame = there.length === wanted.length && wanted.every((each, index) => isEqual(each, there[index]));
  if (!isSame) await call('setMyCommands', { commands: wanted }, signal);
  return !isSame;
}

const isEqual = (a: BotCommand, b: BotCommand | undefined): boolean =>
  a.command === b?.command && a.description === b.description;
