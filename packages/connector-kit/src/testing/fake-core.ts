import type { Amendment } from '@svc/contract/amend.ts';
import type { AnswerRequest } from '@svc/contract/ask.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { SessionAsker } from '@svc/contract/link.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { CallOptions, CoreApi, StreamHandlers } from '../connector.ts';
import type { WatchHandlers } from '../sessions-api.ts';

/** One turn that a connector requested, controlled by a test. */
export type FakeTurn = {
  envelope: Envelope;
  /** Empty for a turn that is not streamed. */
  handlers: StreamHandlers;
  options: CallOptions;
  /** The turn's result; fields that the test does not set get default values. */
  result(fields?: Partial<HandleResult>): HandleResult;
};

export type Script = (turn: FakeTurn) => HandleResult | Promise<HandleResult>;

/** A conversation that the connector watches. */
export type FakeWatch = { as: SessionAsker; key: string; handlers: WatchHandlers; isOver: boolean };

export type FakeCore = CoreApi & {
  /** All turns so far, in order. */
  turns: FakeTurn[];
  /** Edits and deletions, in order. */
  amendments: Amendment[];
  /** The connector's reports about its replies, in order. */
  acks: { turnId: string; error?: string }[];
  /** The answers to questions that the connector passed on, in order. All are accepted. */
  answers: ({ askId: string } & AnswerRequest)[];
  /** The watches, in order; a test passes frames to their handlers. */
  watches: FakeWatch[];
  /** Decides the outcome of the next turns. The default script echoes. */
  script: Script;
};

/** A core whose turns a test controls. */
export function createFakeCore(identity: Partial<Identity> = {}): FakeCore {
  const run = async (envelope: Envelope, handlers: StreamHandlers, options: CallOptions) => {
    const turn: FakeTurn = { envelope, handlers, options, result: (fields) => toResult(envelope, core.turns.length, fields) };
    core.turns.push(turn);
    options.onAccepted?.(`turn_${core.turns.length}`);
    return core.script(turn);
  };
  /** Injected texts by conversation and id: a repeat gets the answer to the first. */
  const injected = new Map<string, Promise<HandleResult>>();
  const core: FakeCore = {
    turns: [],
    amendments: [],
    acks: [],
    answers: [],
    watches: [],
    script: echo,
    handle: (envelope, options = {}) => run(envelope, {}, options),
    handleStream: (envelope, handlers, options = {}) => run(envelope, handlers, options),
    delivered: (turnId, error) => void core.acks.push(error === undefined ? { turnId } : { turnId, error }),
    async answer(askId, answer) {
      core.answers.push({ askId, ...answer });
      const option = answer.option ?? answer.text;
      return { ask_id: askId, option, label: option };
    },
    async amend(amendment) {
      core.amendments.push(amendment);
      return { outcome: 'replaced' };
    },
    resolve: async () => ({ ...owner, ...identity }),
    checkout: async ({ ref = 'HEAD' }) => ({ id: `co_${ref}`, path: `/checkouts/${ref}`, sha: '0'.repeat(40) }),
    sessions: {
      list: async () => ({ sessions: [], next: null }),
      history: async () => ({ messages: [], next: null }),
      forget: async () => undefined,
      abort: async () => undefined,
      inject: async (as, conversation_key, { text, message_id }) => {
        const said = { ...as, conversation_key, ...(message_id !== undefined && { message_id }), content: { text } };
        const name = `${conversation_key} ${message_id ?? core.turns.length}`;
        const answer = injected.get(name) ?? run(said, {}, {});
        injected.set(name, answer);
        const { turn_id, outcome } = await answer;
        return { ok: true, reply: text, delivered: false, deliverErr: null, route: null, outcome, turn_id };
      },
      watch(as, key, handlers) {
        const watch: FakeWatch = { as, key, handlers, isOver: false };
        core.watches.push(watch);
        return () => void (watch.isOver = true);
      },
    },
  };
  return core;
}

/** Answers `echo: <text>`, streamed word by word. */
export const echo: Script = ({ envelope, handlers, result }) => {
  const text = `echo: ${envelope.content.text}`;
  for (const word of text.split(/(?<= )/)) handlers.onDelta?.(word);
  handlers.onFlush?.();
  return result({ actions: [{ type: 'reply', text }] });
};

const owner: Identity = {
  principal_id: 'prn_1',
  principal_key: 'owner',
  display_name: 'Owner',
  trust_tier: 'SACRED',
  tool_policy: 'full',
  tool_servers: '*',
  asks: 'never',
  bypass_moderation: false,
  denied: false,
  reason: 'a test says so',
};

const toResult = (envelope: Envelope, serial: number, fields: Partial<HandleResult> = {}): HandleResult => ({
  actions: [],
  outcome: 'replied',
  conversation_key: envelope.conversation_key,
  turn_id: `turn_${serial}`,
  ...fields,
});
