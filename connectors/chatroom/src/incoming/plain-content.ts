import type { Bot } from '../chatroom-deps.ts';
import { oneLine } from '@svc/connector-kit/one-line.ts';
import type { ChatMessage } from './read-event.ts';

/** The names for the ids in a text. */
export type Names = {
  room(id: string): string | undefined;
  role(id: string): string | undefined;
};

const longestName = 100;

/** The text of a message as its readers see it: with names instead of ids. */
export function plainContent(content: string, { mentions = [] }: Pick<ChatMessage, 'mentions'>, names: Names, bot: Bot): string {
  const people = new Map(mentions.map(({ id, username }) => [id, username]));
  const nameOf = (sign: string, id: string): string | undefined => {
    if (sign === '#') return names.room(id);
    if (sign === '@&') return names.role(id);
    return id === bot.id ? bot.username : people.get(id);
  };
  return content
    .replaceAll(/<(@&|@!?|#)([0-9]{1,20})>/g, (whole, sign: string, id: string) => {
      const name = nameOf(sign, id);
      return name === undefined ? whole : `${sign === '#' ? '#' : '@'}${oneLine(name, longestName)}`;
    })
    .replaceAll(/<a?:(\w{1,64}):[0-9]{1,20}>/g, ':$1:')
    .replaceAll(/<\/([^:<>]{1,100}):[0-9]{1,20}>/g, '/$1')
    .replaceAll(/<t:(-?[0-9]{1,12})(?::[tTdDfFR])?>/g, (whole, seconds: string) => timeText(Number(seconds)) ?? whole);
}

function timeText(seconds: number): string | null {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? null : time.toISOString().replace('.000Z', 'Z');
}
