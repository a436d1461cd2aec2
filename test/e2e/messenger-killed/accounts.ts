import type { TelegramServer } from '@svc/testing/telegram-server/index.ts';
import type { SeenMessage } from '@svc/testing/telegram-server/view-chat.ts';
import { textOf } from '../channel-killed/people.ts';
import type { CoreRecord } from '../channel-killed/accounts.ts';
import type { Asked } from './people.ts';

/** When the process that writes was ended, by the clock that only goes forward. */
export type Kills = readonly number[];

/** An answer that the platform gave so shortly before its reader was ended may not have been noted. */
const unnotedMs = 2000;

/** What the bot shows in answer to a message; later parts of an answer name what they answer by their words alone. */
const shownFor = (replies: readonly SeenMessage[], { ids, name }: Asked): SeenMessage[] =>
  replies.filter(({ replyTo, text }) => (replyTo === undefined ? /\bm\d+\b/.exec(text)?.[0] === name : ids.includes(replyTo)));

export const isAnswered = (server: TelegramServer, asked: Asked): boolean =>
  textOf(shownFor(server.replies(asked.place.chat, asked.place.thread), asked)).includes(asked.answer);

/** Every rule that is broken, and how many messages stand there twice because nobody could know that they were there. */
export function findBroken(server: TelegramServer, asked: readonly Asked[], core: CoreRecord, kills: Kills) {
  const broken: string[] = [];
  /** The chats in which something is broken. */
  const places = new Set<number>();
  let unavoidable = 0;
  for (const [place, own] of Map.groupBy(asked, (one) => one.place)) {
    const replies = server.replies(place.chat, place.thread);
    const first: { name: string; id: number }[] = [];
    const known = new Set<SeenMessage>();
    const brokenBefore = broken.length;
    for (const one of own) {
      const shown = shownFor(replies, one);
      for (const each of shown) known.add(each);
      const parts = findAnswer(shown, one.answer);
      if (parts === null) {
        broken.push(
          `not answered: ${JSON.stringify({ ...one, place: place.chat, answer: short(one.answer), shown: shown.map(brief) })}`,
        );
        continue;
      }
      for (const surplus of shown.filter((each) => !parts.includes(each))) {
        if (isUnavoidable(server, place.chat, surplus.id, kills)) unavoidable++;
        else
          broken.push(
            `doubled: ${JSON.stringify({ name: one.name, chat: place.chat, surplus: brief(surplus), parts: parts.map(brief) })}`,
          );
      }
      if (!core.pushed.has(one.name)) first.push({ name: one.name, id: parts[0]?.id ?? 0 });
    }
    first.forEach((one, n) => {
      const before = first[n - 1];
      if (before !== undefined && before.id > one.id)
        broken.push(`out of order in ${place.chat}: ${before.name} came after ${one.name}`);
    });
    for (const reply of replies.filter((each) => !known.has(each)))
      broken.push(`left over in ${place.chat}: ${JSON.stringify(brief(reply))}`);
    if (broken.length > brokenBefore) places.add(place.chat);
  }
  return { broken, places: [...places], unavoidable };
}

/** The last messages in a row of which the answer consists; null when it does not stand there. */
function findAnswer(shown: readonly SeenMessage[], answer: string): SeenMessage[] | null {
  const build = (from: number, rest: string): SeenMessage[] | null => {
    for (let n = from; n >= 0; n--) {
      const one = shown[n];
      const text = one === undefined ? '' : textOf([one]);
      if (one === undefined || text === '' || !rest.endsWith(text)) continue;
      const left = rest.slice(0, rest.length - text.length).trimEnd();
      const before = left === '' ? [] : build(n - 1, left);
      if (before !== null) return [...before, one];
    }
    return null;
  };
  return build(shown.length - 1, answer);
}

/** Telegram has no way to ask whether a message was sent: where the answer to a call was lost, it is sent again. */
function isUnavoidable(server: TelegramServer, chat: number, id: number, kills: Kills): boolean {
  const call = server.calls.find(
    ({ params, made, method }) => Number(params['chat_id']) === chat && made.includes(id) && method.startsWith('send'),
  );
  if (call === undefined) return false;
  return !call.isAnswered || kills.some((at) => at > call.at && at - call.at < unnotedMs);
}

const brief = ({ id, text, replyTo, before }: SeenMessage) => ({ id, replyTo, text: short(text), before: before.map(short) });
const short = (text: string): string => (text.length < 60 ? text : `${text.slice(0, 40)}…${text.slice(-15)}`);

const lastCalls = 80;

/** The last writes to a chat, for who has to find out what went wrong there. */
export function timeline({ calls }: TelegramServer, chat: number | undefined): string {
  const own = calls.filter(({ method, params }) => Number(params['chat_id']) === chat && method !== 'sendChatAction');
  const line = ({ at, method, params, status, description, made, isAnswered: heard }: (typeof own)[number]): string => {
    const {
      message_id: id,
      text,
      reply_parameters: reply,
    } = params as { message_id?: number; text?: string; reply_parameters?: unknown };
    const about = [id, text === undefined ? undefined : short(text), reply === undefined ? undefined : JSON.stringify(reply)];
    return `${(at / 1000).toFixed(1)} ${method} ${about.filter((each) => each !== undefined).join(' ')} → ${status ?? 'cut'} ${description ?? made.join(',')}${heard ? '' : ' (not heard)'}`;
  };
  return [`the last writes to ${chat ?? 'nobody'}:`, ...own.slice(-lastCalls).map(line)].join('\n');
}
