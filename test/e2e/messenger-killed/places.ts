import type { TelegramServer } from '@svc/testing/telegram-server/index.ts';
import type { TelegramUser } from '@svc/testing/telegram-server/api-types.ts';
import type { Question } from '../killed-chat/start-asking.ts';

/** Where people talk with the bot: a private chat, a group or a topic of a supergroup. */
export type TelegramPlace = { chat: number; thread?: number; members: TelegramUser[]; isGroup: boolean };

/** Of ten places seven are private chats, two groups, and one is a topic. */
export function openPlaces(server: TelegramServer, count: number): TelegramPlace[] {
  const topicOf = (n: number, members: TelegramUser[]) => {
    const { id: chat } = server.supergroup(`Forum ${n}`, members, true);
    return { chat, thread: server.openTopic(chat, members[0] as TelegramUser, 'Plans'), members, isGroup: true };
  };
  return Array.from({ length: count }, (_, n): TelegramPlace => {
    const ann = server.person(`Ann ${n}`, { username: `ann_${n}` });
    if (n % 10 === 4 || n % 10 === 7) {
      const members = [ann, server.person(`Bob ${n}`)];
      return { chat: server.group(`Group ${n}`, members).id, members, isGroup: true };
    }
    return n % 10 === 9 ? topicOf(n, [ann]) : { chat: ann.id, members: [ann], isGroup: false };
  });
}

/** A member of a place asks; several files are an album. */
export function ask(
  server: TelegramServer,
  random: () => number,
  place: TelegramPlace,
  { name, words, files }: Question,
): number[] {
  const { chat, thread, members, isGroup } = place;
  const text = `${isGroup ? `@${server.bot.user.username} ` : ''}[${name}] ${words}`;
  const from = members[Math.floor(random() * members.length)] as TelegramUser;
  const where = { from, chat, ...(thread !== undefined && { thread }) };
  const parts = Array.from({ length: files }, (_, n) => ({
    kind: 'document' as const,
    name: `${n}.txt`,
    mime: 'text/plain',
    bytes: Buffer.from(`file ${n}`),
  }));
  const [only] = parts;
  const messages =
    files > 1
      ? server.sendAlbum({ ...where, caption: text, parts })
      : [only === undefined ? server.say({ ...where, text }) : server.sendDocument({ ...where, caption: text, ...only })];
  return messages.map(({ message_id }) => message_id);
}
