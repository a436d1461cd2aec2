import type { ChatPlatform } from '@svc/testing/chat-platform/start-chat-platform.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { isFor, people, shownFor, textOf, type SaidMessage } from './people.ts';

type Delivery = { id: string; turn_id: string; state: string };
type HistoryMessage = { turn_id: string; role: string; text: string; state: string };

/** Names of messages that the core lists as failed: their turn has failed, or their reply could not be delivered. */
export async function listedAsFailed(coreUrl: string, keyOf: (chat: string) => string): Promise<Set<string>> {
  const { deliveries } = await get<{ deliveries: Delivery[] }>(`${coreUrl}/v2/deliveries?state=failed&limit=1000`);
  const failed = new Set(deliveries.map(({ turn_id }) => turn_id));
  const names = new Set<string>();
  for (const chat of Object.keys(people)) {
    const url = `${coreUrl}/v2/session/${encodeURIComponent(keyOf(chat))}/history?limit=1000`;
    const { messages = [] } = await get<{ messages?: HistoryMessage[] }>(url);
    for (const { role, text, turn_id, state } of messages)
      if (role === 'user' && (state === 'failed' || failed.has(turn_id))) names.add(/\[(\w+)\]/.exec(text)?.[1] ?? '');
  }
  return names;
}

/** Every rule that is broken. */
export function findBroken(platform: ChatPlatform, said: readonly SaidMessage[], failed: ReadonlySet<string>): string[] {
  return [...Map.groupBy(said, ({ chat }) => chat)].flatMap(([chat, own]) => [
    ...own.flatMap((message) => brokenRule(platform, message, failed)),
    ...outOfOrder(platform, own),
    ...leftOver(platform, chat, own),
  ]);
}

/** What the bot shows and belongs to nothing. */
const leftOver = (platform: ChatPlatform, chat: string, own: readonly SaidMessage[]): string[] =>
  platform
    .replies(chat)
    .filter((reply) => !reply.isDeleted && !own.some((message) => isFor(reply, message)))
    .map(({ id, texts }) => `left over in ${chat}: ${id} ${JSON.stringify(texts.map(short))}`);

function brokenRule(platform: ChatPlatform, message: SaidMessage, failed: ReadonlySet<string>): string[] {
  const shown = shownFor(platform, message);
  const text = textOf(shown);
  const isListed = message.answers.some((answer) => failed.has(answer.split(' ')[0] ?? ''));
  const isAnswered = message.answers.includes(text);
  // What was said is taken back: its answer may have begun before, but it is not there twice.
  const mayBePart = message.isRemoved && message.answers.some((answer) => answer.startsWith(text.slice(0, -1)));
  if (isAnswered || mayBePart || (isListed && !message.answers.some((answer) => text.includes(answer)))) return [];
  const rule = text === '' ? 'not answered' : 'not answered as it should be';
  const { ids, chat, answers, isRemoved } = message;
  const seen = shown.map(({ id, nonce, texts }) => ({ id, nonce, texts: texts.map(short) }));
  return [`${rule}: ${JSON.stringify({ ids, chat, answers: answers.map(short), isRemoved, isListed, seen })}`];
}

/** Answers stand in the order of what they answer. */
function outOfOrder(platform: ChatPlatform, own: readonly SaidMessage[]): string[] {
  const first = own.flatMap((message) => {
    const [reply] = shownFor(platform, message);
    return reply === undefined ? [] : [{ said: message.ids[0], reply: reply.id }];
  });
  return first.flatMap(({ said, reply }, n) => {
    const before = first[n - 1];
    return before !== undefined && Number(before.reply) > Number(reply)
      ? [`out of order: ${said} is answered by ${reply}, ${before.said} before it by ${before.reply}`]
      : [];
  });
}

const short = (text: string): string => (text.length < 60 ? text : `${text.slice(0, 40)}…${text.slice(-15)}`);

const get = async <T>(url: string): Promise<T> => (await requestJson<T>(url, { timeoutMs: 10_000 })).body;
