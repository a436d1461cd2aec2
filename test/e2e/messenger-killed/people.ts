import type { TelegramServer } from '@svc/testing/telegram-server/index.ts';
import type { TelegramUser } from '@svc/testing/telegram-server/api-types.ts';
import { answerTo } from '../channel-killed/engine-script.ts';

/** Where people talk with the bot: a private chat, a group or a topic of a supergroup. */
export type TelegramPlace = { chat: number; thread?: number; members: TelegramUser[]; isGroup: boolean };

/** What a person asked, and what is to be answered to it. */
export type Asked = { ids: number[]; place: TelegramPlace; name: string; answer: string; at: number };

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

const maxOpen = 3;
/** Who has no answer for so long asks on; what is missing is found in the end. */
const forgottenAfterMs = 30_000;

/** People who say so many messages in all, in each place the next ones when few are without their answer. */
export function startAsking(
  server: TelegramServer,
  places: readonly TelegramPlace[],
  total: number,
  random: () => number,
  isAnswered: (asked: Asked) => boolean,
) {
  const asked: Asked[] = [];
  let isOver = false;

  const talks = places.map(async (place, n) => {
    const share = Math.floor(total / places.length) + (n < total % places.length ? 1 : 0);
    const open: Asked[] = [];
    for (let said = 0; said < share && !isOver;) {
      await pause(50 + random() * 300);
      const still = open.filter((one) => performance.now() - one.at < forgottenAfterMs && !isAnswered(one));
      open.splice(0, open.length, ...still);
      if (open.length >= maxOpen) continue;
      const next = ask(place);
      asked.push(next);
      open.push(next);
      said++;
    }
  });

  function ask(place: TelegramPlace): Asked {
    const { chat, thread, members, isGroup } = place;
    const luck = random();
    const files = luck < 0.06 ? 1 : luck < 0.1 ? 2 : 0;
    // Now and then an answer needs two messages.
    const words = luck > 0.97 ? 600 : Math.floor(random() * 40);
    const name = `m${asked.length + 1}`;
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
    return {
      ids: messages.map(({ message_id }) => message_id),
      place,
      name,
      answer: answerTo(name, words, files),
      at: performance.now(),
    };
  }

  return {
    asked,
    /** Resolves when all is said. */
    done: Promise.all(talks),
    stop() {
      isOver = true;
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
