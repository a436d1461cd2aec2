import { Readable } from 'node:stream';
import type { Envelope, TurnReply } from '@svc/connector-kit';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createMemoryState } from '@svc/testing/memory-state.ts';
import { passTime, passUntilOver } from '@svc/testing/pass-time.ts';
import { GrammyError, InputFile, type Api } from 'grammy';
import { createOutgoing, type Outgoing, type OutgoingDeps } from '../create-outgoing.ts';

/** Parameters as a server parses them. */
type Params = Record<string, ReturnType<typeof JSON.parse>>;
type ApiCall = { method: string; params: Params; at: number };
type Answer = (params: Params) => unknown;

/** The Bot API's answer when it refuses. */
export const refusal =
  (error_code: number, description: string, parameters = {}) =>
  () => {
    throw new GrammyError('', { ok: false, error_code, description, parameters }, 'method', {});
  };

/**
 * The outgoing side on a Bot API that records its requests. `answers`: the answer for each method; `next`: single answers that are used
 * first.
 */
export async function setUpOutgoing(
  options: Partial<OutgoingDeps> = {},
  files: Record<string, { bytes: number; mime: string }> = {},
) {
  const clock = createFakeClock();
  const calls: ApiCall[] = [];
  const answers: Record<string, Answer> = { getMyCommands: () => [] };
  const next: Record<string, Answer[]> = {};
  let lastId = 100;
  const methods = new Proxy(
    {},
    {
      get: (_, method: string) => async (params: Params) => {
        calls.push({ method, params: (await readFiles(params)) as Params, at: clock.elapsed() });
        return (next[method]?.shift() ?? answers[method] ?? (() => ({ message_id: ++lastId })))(params);
      },
    },
  );
  const opened: Readable[] = [];
  const uploads: Pick<OutgoingDeps['uploads'], 'open'> = {
    async open(path) {
      const { bytes, mime } = files[path] ?? { bytes: 3, mime: 'text/plain' };
      // Like the core's answer, the stream has a URL: the library fetches what has one.
      const data = Object.assign(Readable.from([Buffer.from('abc')]), { url: '' });
      opened.push(data);
      return { data, bytes, mime };
    },
  };
  const state = createMemoryState();
  const { signal } = new AbortController();
  const logs: string[] = [];
  const log = (level: string, message: string, fields?: object) =>
    void logs.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  const deps = {
    state,
    signal,
    log,
    uploads,
    raw: methods as unknown as Api['raw'],
    clock,
    hasReactions: false,
    hasDrafts: false,
    ...options,
  };
  const outgoing = await createOutgoing(deps);
  const named = (method: string) => calls.filter((call) => call.method === method).map(({ params }) => params);
  const within = <T>(work: Promise<T>): Promise<T> => passUntilOver(clock, work);
  const pass = (ms: number) => passTime(clock, ms);
  return { ...outgoing, calls, answers, next, named, within, pass, logs, clock, opened, deps, state };
}

/** The files that were sent, by name. */
async function readFiles(value: unknown): Promise<unknown> {
  if (value instanceof InputFile) {
    for await (const _ of (await value.toRaw()) as AsyncIterable<Uint8Array>);
    return `file ${value.filename}`;
  }
  if (Array.isArray(value)) return Promise.all(value.map(readFiles));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([name, each]) => [name, await readFiles(each)])));
}

export const envelopeOf = (chatId: string, message_id = '7'): Envelope => ({
  channel: 'messenger',
  conversation_key: `messenger:i1:user:${chatId}`,
  message_id,
  sender: { raw_id: 'ann' },
  content: { text: 'hello' },
  channel_context: { chatId },
});

export const resultOf = (text: string, actions: object[] = []) =>
  ({
    actions: [...(text === '' ? [] : [{ type: 'reply', text }]), ...actions],
    outcome: 'replied',
    conversation_key: 'k',
    turn_id: 't1',
  }) as never;

let lastMessage = 6;
/** The reply to the next message of a chat. */
export const begin = (outgoing: Pick<Outgoing, 'openReply'>, chat: string, message = ++lastMessage): TurnReply =>
  outgoing.openReply(envelopeOf(chat, `${chat}:${message}`), { turnId: 't1', again: false });
