import type { Ask, AskAnswer, OpenAsk } from '@svc/contract/ask.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Outcome } from '@svc/contract/turn.ts';
import type { ToolCaller } from '../toolbelt/tool-caller.ts';
import type { Turn } from '../turn/turn.ts';
import { shortText, type EventOut } from './event-out.ts';

type Answerer = { engineId: string; fallbackReason: string | null };

/** Events of a message, from its acceptance to its answer. */
export interface TurnEvents {
  /** `as`: a message that begins no turn, because it is only recorded or is a chat command. */
  inbound(turn: Turn, identity: Identity, as?: 'observed' | 'command'): Promise<void>;
  denied(turn: Turn, identity: Identity): void;
  blocked(turn: Turn, identity: Identity, rule: string): void;
  /** A moderation provider failed; `passed` says whether the message was let through. */
  moderationFailed(turn: Turn, identity: Identity, error: string, passed: boolean): void;
  /** The number of earlier messages that were not given to the engine. */
  transcriptCut(turn: Turn, identity: Identity, count: number): void;
  queued(turn: Turn, position: number): void;
  /** `at`: when it began, epoch ms. */
  started(turn: Turn, at: number): void;
  ended(turn: Turn, outcome: Outcome | 'failed', ms: number, error?: string): void;
  recovered(turn: Turn, attempts: number): void;
  thinking(turn: Turn, identity: Identity, text: string): void;
  /** `cwd`: the folder that relative paths in the input refer to. */
  tool(turn: Turn, identity: Identity, call: { name: string; id: string; input: unknown; cwd: string | null }): void;
  /** One of the service's own tools refused a call. The operator's client is in no turn. */
  toolRefused(caller: ToolCaller, tool: string, reason: string): void;
  toolResult(turn: Turn, identity: Identity, result: { id: string; ok: boolean; output: string }): void;
  ask(turn: Turn, identity: Identity, ask: Ask): void;
  asked(turn: Turn, identity: Identity, ask: Ask, answer: AskAnswer): void;
  /** A conversation was forgotten outside of any turn. */
  conversationForgotten(key: string): void;
  /** A question that was open when the previous process ended: it is denied, and its turn is run again. */
  askLeft(ask: Pick<OpenAsk, 'id' | 'turn_id' | 'conversation_key'>): void;
  engineNotice(turn: Turn, identity: Identity, notice: { engineId: string; code: string; message: string }): void;
  /** `answerer`: the engine that answered and, unless it is the default one, why it was chosen. */
  outbound(turn: Turn, identity: Identity, text: string, ms: number, answerer: Answerer): void;
  /** Nobody fetched the reply or the failure; the channel shows it when it is opened next. */
  kept(turn: Turn): void;
  sessionForgotten(turn: Turn, identity: Identity): void;
}

export const turnEvents = ({ send, emit, emitted, mask, maskLong }: EventOut): TurnEvents => ({
  inbound: async (turn: Turn, identity: Identity, as?: 'observed' | 'command'): Promise<void> => {
    const { text } = turn.envelope.content;
    await emitted(turn, {
      kind: 'inbound',
      principal: identity.principal_key,
      text: text.length <= shortText ? mask(text) : await maskLong(text),
      ...injected(turn),
      payload: {
        turn_id: turn.id,
        tier: identity.trust_tier,
        ...(as === undefined ? {} : { [as]: true }),
        ...(turn.steering === undefined ? {} : { by: turn.steering.by }),
      },
    });
  },
  denied: (turn: Turn, identity: Identity) =>
    emit(turn, { kind: 'denied', principal: identity.principal_key, payload: { turn_id: turn.id, reason: identity.reason } }),
  blocked: (turn: Turn, identity: Identity, rule: string) =>
    emit(turn, { kind: 'moderation', principal: identity.principal_key, payload: { turn_id: turn.id, rule } }),
  moderationFailed: (turn: Turn, identity: Identity, error: string, passed: boolean) =>
    emit(turn, {
      kind: 'moderation',
      principal: identity.principal_key,
      payload: { turn_id: turn.id, what: 'provider_failed', error: mask(error), passed },
    }),
  transcriptCut: (turn: Turn, identity: Identity, count: number) =>
    emit(turn, {
      kind: 'moderation',
      principal: identity.principal_key,
      payload: { turn_id: turn.id, what: 'transcript_cut', count },
    }),
  queued: (turn: Turn, position: number) => emit(turn, { kind: 'queued', payload: { turn_id: turn.id, position } }),
  started: (turn: Turn, at: number) => emit(turn, { kind: 'turn', payload: { turn_id: turn.id, what: 'started', at } }),
  ended: (turn: Turn, outcome: Outcome | 'failed', ms: number, error?: string) =>
    emit(turn, {
      kind: 'turn',
      payload: { turn_id: turn.id, what: 'ended', outcome, ms, ...(error === undefined ? {} : { error }) },
    }),
  recovered: (turn: Turn, attempts: number) =>
    emit(turn, { kind: 'turn', payload: { turn_id: turn.id, what: 'recovered', attempts } }),
  thinking: (turn: Turn, identity: Identity, text: string) =>
    emit(turn, { kind: 'thinking', principal: identity.principal_key, text, payload: { turn_id: turn.id } }),
  tool: (turn: Turn, identity: Identity, { name, id, input, cwd }) =>
    emit(turn, { kind: 'tool', principal: identity.principal_key, text: name, payload: { turn_id: turn.id, id, input, cwd } }),
  toolRefused: ({ turn, identity }: ToolCaller, tool: string, reason: string) => {
    const event = { kind: 'trust', principal: identity.principal_key, payload: { what: 'tool_refused', tool, reason } };
    if (turn === null) send(event);
    else emit(turn, { ...event, payload: { ...event.payload, turn_id: turn.id } });
  },
  toolResult: (turn: Turn, identity: Identity, { id, ok, output }) =>
    emit(turn, { kind: 'tool_result', principal: identity.principal_key, text: output, payload: { turn_id: turn.id, id, ok } }),
  ask: (turn: Turn, identity: Identity, { id, text, options, expires_at }: Ask) =>
    emit(turn, { kind: 'ask', principal: identity.principal_key, text, payload: { turn_id: turn.id, id, options, expires_at } }),
  asked: (turn: Turn, identity: Identity, { id }: Ask, { option, outcome }: AskAnswer) =>
    emit(turn, { kind: 'asked', principal: identity.principal_key, payload: { turn_id: turn.id, id, option, outcome } }),
  conversationForgotten: (key: string) => send({ kind: 'session', session: key, payload: { what: 'forgotten' } }),
  askLeft: ({ id, turn_id, conversation_key }) =>
    send({ kind: 'asked', session: conversation_key, payload: { turn_id, id, option: null, outcome: 'ended' } }),
  engineNotice: (turn: Turn, identity: Identity, { engineId, code, message }) =>
    emit(turn, {
      kind: 'engine',
      principal: identity.principal_key,
      text: message,
      payload: { turn_id: turn.id, engine_id: engineId, code },
    }),
  outbound: (turn: Turn, identity: Identity, text: string, ms: number, { engineId, fallbackReason }: Answerer) =>
    emit(turn, {
      kind: 'outbound',
      principal: identity.principal_key,
      text,
      ...injected(turn),
      payload: {
        turn_id: turn.id,
        ms,
        engine_id: engineId,
        ...(fallbackReason === null ? {} : { instead: mask(fallbackReason) }),
      },
    }),
  kept: (turn: Turn) => emit(turn, { kind: 'delivery', payload: { turn_id: turn.id, what: 'kept' } }),
  sessionForgotten: (turn: Turn, identity: Identity) =>
    emit(turn, { kind: 'session', principal: identity.principal_key, payload: { turn_id: turn.id, what: 'forgotten' } }),
});

/** Marks all events of an injected turn. */
const injected = ({ steering }: Turn) => (steering === undefined ? {} : { injected: true });
