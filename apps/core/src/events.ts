import type { PartialEvent } from '@svc/contract/event.ts';
import type { Outcome } from '@svc/contract/turn.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/telemetry.ts';
import type { KnownSecrets } from './secret/known-secrets.ts';
import type { Turn } from './turn/turn.ts';

type UsageFacts = { usage: TokenUsage; model: string | null; engineId: string; billed: boolean };

/**
 * The business events of the core, one function each, so that what is told is the same everywhere. Telemetry leaves
 * sideways: nothing here delays or fails a turn. Texts pass redaction like every other outbound text.
 */
export function createEvents(telemetry: Pick<Telemetry, 'emit'>, knownSecrets: Pick<KnownSecrets, 'redactor'>) {
  const withheld = '[withheld]';
  const mask = (text: string): string => {
    try {
      return knownSecrets.redactor().text(text);
    } catch {
      return withheld; // without the list of secrets no text leaves; the fault itself is in /health
    }
  };
  const emit = (turn: Turn, event: PartialEvent) => {
    const { envelope } = turn;
    telemetry.emit({
      surface: envelope.channel,
      session: envelope.conversation_key,
      instance_id: turn.instanceId,
      identity: envelope.sender.raw_id,
      request_id: turn.requestId,
      ...event,
    });
  };

  return {
    inbound: (turn: Turn, identity: Identity, observed = false) =>
      emit(turn, {
        kind: 'inbound',
        principal: identity.principal_key,
        text: mask(turn.envelope.content.text),
        payload: { turn_id: turn.id, tier: identity.trust_tier, ...(observed ? { observed } : {}) },
      }),
    denied: (turn: Turn, identity: Identity) =>
      emit(turn, { kind: 'denied', principal: identity.principal_key, payload: { turn_id: turn.id, reason: identity.reason } }),
    blocked: (turn: Turn, identity: Identity, rule: string) =>
      emit(turn, { kind: 'moderation', principal: identity.principal_key, payload: { turn_id: turn.id, rule } }),
    queued: (turn: Turn, position: number) => emit(turn, { kind: 'queued', payload: { turn_id: turn.id, position } }),
    started: (turn: Turn, at: number) => emit(turn, { kind: 'turn', payload: { turn_id: turn.id, what: 'started', at } }),
    ended: (turn: Turn, outcome: Outcome | 'failed', ms: number, error?: string) =>
      emit(turn, {
        kind: 'turn',
        payload: { turn_id: turn.id, what: 'ended', outcome, ms, ...(error === undefined ? {} : { error }) },
      }),
    thinking: (turn: Turn, text: string) => emit(turn, { kind: 'thinking', text, payload: { turn_id: turn.id } }),
    tool: (turn: Turn, name: string, id: string, input: unknown) =>
      emit(turn, { kind: 'tool', text: name, payload: { turn_id: turn.id, id, input } }),
    toolResult: (turn: Turn, id: string, ok: boolean, output: string) =>
      emit(turn, { kind: 'tool_result', text: output, payload: { turn_id: turn.id, id, ok } }),
    engineNotice: (turn: Turn, engineId: string, code: string, message: string) =>
      emit(turn, { kind: 'engine', text: message, payload: { turn_id: turn.id, engine_id: engineId, code } }),
    outbound: (turn: Turn, identity: Identity, text: string, ms: number) =>
      emit(turn, { kind: 'outbound', principal: identity.principal_key, text, payload: { turn_id: turn.id, ms } }),
    tokenUsage: (turn: Turn, identity: Identity, { usage, model, engineId, billed }: UsageFacts) => {
      const { cost_usd, ...tokens } = usage;
      emit(turn, {
        kind: 'token-usage',
        principal: identity.principal_key,
        payload: { turn_id: turn.id, engine_id: engineId, model, ...tokens },
        cost_usd: cost_usd ?? 0,
        billed_cost_usd: billed ? (cost_usd ?? 0) : 0,
        billed,
      });
    },
    sessionForgotten: (turn: Turn, identity: Identity) =>
      emit(turn, { kind: 'session', principal: identity.principal_key, payload: { turn_id: turn.id, what: 'forgotten' } }),
    service: (what: 'started' | 'stopping') => telemetry.emit({ kind: 'service', payload: { service: 'core', what } }),
  };
}

export type Events = ReturnType<typeof createEvents>;
