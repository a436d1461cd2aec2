import type { ChatPlatform } from '@svc/testing/chat-platform/start-chat-platform.ts';
import type { StoredMessage } from '@svc/testing/chat-platform/platform-types.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { isFor, shownFor, textOf, type SaidMessage } from './people.ts';

type Delivery = { id: string; turn_id: string; state: string };
type HistoryMessage = { turn_id: string; role: string; text: string; state: string };

/** The core's records of the messages, by the names in their texts. */
export type CoreRecord = {
  /** Their turn has failed, or their reply could not be delivered. */
  failed: Set<string>;
  /** Their reply was pushed, because the connector was not connected when it was ready. */
  pushed: Set<string>;
  /** In the order of their turns, chat by chat. */
  turns: string[];
};

export async function readCore(coreUrl: string, keys: readonly string[]): Promise<CoreRecord> {
  const { deliveries } = await get<{ deliveries: Delivery[] }>(`${coreUrl}/v2/deliveries?limit=1000`);
  const states = new Map(deliveries.map(({ turn_id, state }) => [turn_id, state]));
  const record: CoreRecord = { failed: new Set(), pushed: new Set(), turns: [] };
  for (const key of keys) {
    const url = `${coreUrl}/v2/session/${encodeURIComponent(key)}/history?limit=1000`;
    const { messages = [] } = await get<{ messages?: HistoryMessage[] }>(url);
    for (const { role, text, turn_id, state } of messages) {
      const name = /\[(\w+)\]/.exec(text)?.[1];
      if (role !== 'user' || name === undefined) continue;
      record.turns.push(name);
      if (states.has(turn_id)) record.pushed.add(name);
      if (state === 'failed' || states.get(turn_id) === 'failed') record.failed.add(name);
    }
  }
  return record;
}

/** Every broken rule. */
export function findBroken(platform: ChatPlatform, said: readonly SaidMessage[], core: CoreRecord): string[] {
  return [...Map.groupBy(said, ({ chat }) => chat)].flatMap(([chat, own]) => [
    ...own.flatMap((message) => brokenRule(platform, message, core.failed)),
    ...turnsOutOfOrder(own, core.turns),
    ...repliesOutOfOrder(platform, own, core.pushed),
    ...leftOver(platform, chat, own),
  ]);
}

/** Messages that were not edited run in the order in which they were sent. */
function turnsOutOfOrder(own: readonly SaidMessage[], turns: readonly string[]): string[] {
  const places = own.flatMap(({ answers: [answer = ''], answers: { length } }) => {
    const place = turns.indexOf(nameOf(answer));
    return length > 1 || place === -1 ? [] : [{ name: nameOf(answer), place }];
  });
  return places.flatMap(({ name, place }, n) => {
    const before = places[n - 1];
    return before !== undefined && before.place > place ? [`${before.name} ran after ${name}`] : [];
  });
}

const nameOf = (answer: string): string => answer.split(' ')[0] ?? '';

/** Messages of the bot that answer nothing. */
const leftOver = (platform: ChatPlatform, chat: string, own: readonly SaidMessage[]): string[] =>
  platform
    .replies(chat)
    .filter((reply) => !reply.isDeleted && !own.some((message) => isFor(reply, message)))
    .map(({ id, texts }) => `left over in ${chat}: ${id} ${JSON.stringify(texts.map(short))}`);

function brokenRule(platform: ChatPlatform, message: SaidMessage, failed: ReadonlySet<string>): string[] {
  const shown = shownFor(platform, message);
  const text = textOf(shown);
  const isListed = message.answers.some((answer) => failed.has(nameOf(answer)));
  if (mayRead(message).includes(text)) return [];
  // A deleted message (an album is deleted part by part) may be answered in part, but never twice.
  if (message.isRemoved && message.answers.every((answer) => text.split(`${nameOf(answer)} begins`).length <= 2)) return [];
  if (isListed && !message.answers.some((answer) => text.includes(answer))) return [];
  const rule = text === '' ? 'not answered' : 'not answered as it should be';
  const { ids, chat, answers, isRemoved } = message;
  const seen = shown.map(({ id, nonce, texts }) => ({ id, nonce, texts: texts.map(short) }));
  return [`${rule}: ${JSON.stringify({ ids, chat, answers: answers.map(short), isRemoved, isListed, seen })}`];
}

/** One of its versions is answered. If the first was being answered when it was edited, the new text is answered after it, without the files. */
function mayRead({ answers: [first = '', second] }: SaidMessage): string[] {
  if (second === undefined) return [first];
  const steered = second.replace(/ with \d files/, ' with 0 files');
  return [first, second, `${first} ${steered}`];
}

/** Answers are in the order of their messages, except pushed ones, for which others do not wait. */
function repliesOutOfOrder(platform: ChatPlatform, own: readonly SaidMessage[], pushed: ReadonlySet<string>): string[] {
  const first = own.flatMap((message) => {
    const [reply] = shownFor(platform, message);
    const isPushed = message.answers.some((answer) => pushed.has(nameOf(answer)));
    return reply === undefined || isPushed ? [] : [{ message, reply }];
  });
  return first.flatMap(({ message, reply }, n) => {
    const before = first[n - 1];
    if (before === undefined || Number(before.reply.id) < Number(reply.id)) return [];
    return [`out of order: ${describe(before)} came after ${describe({ message, reply })}`];
  });
}

const describe = ({ message, reply }: { message: SaidMessage; reply: StoredMessage }): string =>
  `the answer ${reply.id} (${reply.texts.map(short).join(' → ')}) to ${message.ids[0]} ${JSON.stringify(message.answers.map(short))}${message.isRemoved ? ', removed,' : ''}`;

const short = (text: string): string => (text.length < 60 ? text : `${text.slice(0, 40)}…${text.slice(-15)}`);

const get = async <T>(url: string): Promise<T> => (await requestJson<T>(url, { timeoutMs: 10_000 })).body;
