import { Readable } from 'node:stream';
import { DiscordAPIError, HTTPError, RateLimitError, type InternalRequest, type RawFile } from '@discordjs/rest';
import type { Envelope, TurnReply } from '@svc/connector-kit';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createMemoryState } from '@svc/testing/memory-state.ts';
import { passTime, passUntilOver } from '@svc/testing/pass-time.ts';
import { createOutgoing, type Outgoing, type OutgoingDeps } from '../create-outgoing.ts';

/** The body as a server parses it. */
type Body = Record<string, ReturnType<typeof JSON.parse>>;
export type RestCall = { what: string; route: string; body: Body; files: string[]; at: number };
type Answer = (call: RestCall) => unknown;

const data = { files: undefined, body: undefined };

/** Discord's answer when it refuses. */
export const refusal =
  (status: number, code: number, message = 'no') =>
  () => {
    throw new DiscordAPIError({ code, message }, code, status, 'POST', '', data);
  };
export const fails = (status: number) => () => {
  throw new HTTPError(status, 'Bad Gateway', 'POST', '', data);
};
export const limited =
  (ms: number, fields: Partial<RateLimitError> = {}) =>
  () => {
    throw new RateLimitError({
      timeToReset: ms,
      limit: 5,
      method: 'POST',
      hash: '',
      url: '',
      route: '',
      majorParameter: '',
      global: false,
      retryAfter: 0,
      sublimitTimeout: 0,
      scope: 'user',
      ...fields,
    });
  };
export const lost = () => {
  throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
};

const names: readonly (readonly [string, RegExp])[] = [
  ['post', /^POST \/channels\/\d+\/messages$/],
  ['edit', /^PATCH \/channels\/\d+\/messages\/\d+$/],
  ['remove', /^DELETE \/channels\/\d+\/messages\/\d+$/],
  ['read', /^GET \/channels\/\d+\/messages$/],
  ['typing', /^POST \/channels\/\d+\/typing$/],
  ['react', /^PUT .*\/reactions\//],
  ['unreact', /^DELETE .*\/reactions\//],
  ['open', /^POST \/users\/@me\/channels$/],
];

/**
 * The outgoing side on a REST API that records its requests. `answers`: the answer for each kind of request; `next`: single answers that
 * are used first.
 */
export async function setUpOutgoing(
  options: Partial<OutgoingDeps> = {},
  files: Record<string, { bytes: number; mime: string }> = {},
) {
  const clock = createFakeClock();
  const calls: RestCall[] = [];
  let lastId = 1_000_000_000_000_000_100n;
  const answers: Record<string, Answer> = {
    read: () => [],
    open: ({ body }) => ({ id: String(BigInt(body['recipient_id']) + 1n) }),
    post: () => ({ id: String(++lastId) }),
  };
  const next: Record<string, Answer[]> = {};
  const rest = {
    async request(request: InternalRequest) {
      const asked = `${request.method} ${request.fullRoute}`;
      const what = names.find(([, pattern]) => pattern.test(asked))?.[0] ?? asked;
      const sent: RawFile[] = request.files ?? [];
      const call = {
        what,
        route: request.fullRoute,
        body: JSON.parse(JSON.stringify(request.body ?? {})) as Body,
        files: sent.map(({ name }) => name),
        at: clock.elapsed(),
      };
      calls.push(call);
      return (next[what]?.shift() ?? answers[what] ?? (() => ({})))(call);
    },
  };
  const uploads: Pick<OutgoingDeps['uploads'], 'open'> = {
    async open(path) {
      const { bytes, mime } = files[path] ?? { bytes: 3, mime: 'text/plain' };
      return { data: Readable.from([Buffer.from('abc')]), bytes, mime };
    },
  };
  const state = createMemoryState();
  const { signal } = new AbortController();
  const logs: string[] = [];
  const log = (level: string, message: string, fields?: object) =>
    void logs.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  const deps: OutgoingDeps = { state, signal, log, uploads, rest, clock, bot: { id: '9' }, hasReactions: false, ...options };
  const outgoing = await createOutgoing(deps);
  const named = (what: string) => calls.filter((call) => call.what === what);
  const contents = (what: string) => named(what).map(({ body }) => body['content']);
  const within = <T>(work: Promise<T>): Promise<T> => passUntilOver(clock, work);
  const pass = (ms: number) => passTime(clock, ms);
  return { ...outgoing, calls, answers, next, named, contents, within, pass, logs, clock, state };
}

export const general = '1000000000000000001';
const question = 1_000_000_000_000_000_010n;

export const envelopeOf = (channelId: string, message_id = String(question)): Envelope => ({
  channel: 'chatroom',
  conversation_key: `chatroom:i1:channel:${channelId}`,
  message_id,
  sender: { raw_id: 'ann' },
  content: { text: 'hello' },
  channel_context: { channelId },
});

export const resultOf = (text: string, actions: object[] = []) =>
  ({
    actions: [...(text === '' ? [] : [{ type: 'reply', text }]), ...actions],
    outcome: 'replied',
    conversation_key: 'k',
    turn_id: 't1',
  }) as never;

let lastMessage = question;
/** The reply to the next message of a channel. */
export const begin = (outgoing: Pick<Outgoing, 'openReply'>, channel: string, message = String(++lastMessage)): TurnReply =>
  outgoing.openReply(envelopeOf(channel, message), { turnId: 't1', again: false });
