import type { Announcement } from '@svc/contract/announcement.ts';
import type { Delivery } from '@svc/contract/delivery.ts';
import type { ModelServer } from '@svc/contract/engine.ts';
import type { PartialEvent } from '@svc/contract/event.ts';
import type { SpeechUse } from '@svc/contract/speech.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Outcome } from '@svc/contract/turn.ts';
import { beginningInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import type { Charge } from './pricing/pricing.ts';
import type { Overspend } from './spend/spend-words.ts';
import type { ToolCaller } from './toolbelt/tool-caller.ts';
import type { Linked } from './trust/link-identity.ts';
import type { NewTrustChange } from './trust/trust-audit.ts';
import type { Turn } from './turn/turn.ts';

/** A text up to this length is masked at once. */
const shortText = 4096;
/** So much of a message is told. */
const maxInbound = 64 * 1024;

/** What the core tells the collector. Nothing here delays or fails a turn. */
export interface Events {
  inbound(turn: Turn, identity: Identity, observed?: boolean): Promise<void>;
  denied(turn: Turn, identity: Identity): void;
  blocked(turn: Turn, identity: Identity, rule: string): void;
  /** A moderation provider could not say, and the message passed or not all the same. */
  moderationFailed(turn: Turn, identity: Identity, error: string, passed: boolean): void;
  /** Messages of before that were not given to the engine. */
  transcriptCut(turn: Turn, identity: Identity, count: number): void;
  queued(turn: Turn, position: number): void;
  started(turn: Turn, at: number): void;
  ended(turn: Turn, outcome: Outcome | 'failed', ms: number, error?: string): void;
  recovered(turn: Turn, attempts: number): void;
  delivery(delivery: Delivery): void;
  claim(key: string, what: 'claimed' | 'released', by: string | null): void;
  thinking(turn: Turn, text: string): void;
  /** `cwd`: what relative paths in the input are relative to. */
  tool(turn: Turn, name: string, id: string, input: unknown, cwd: string | null): void;
  /** The service's own tools refused a call. The operator's client is in no turn. */
  toolRefused(caller: ToolCaller, tool: string, reason: string): void;
  toolResult(turn: Turn, id: string, ok: boolean, output: string): void;
  engineNotice(turn: Turn, engineId: string, code: string, message: string): void;
  /** `engineId`: who answered; `fallbackReason`: why not the default engine, when it was another. */
  outbound(turn: Turn, identity: Identity, text: string, ms: number, answerer: Answerer): void;
  /** What a turn used: the raw sender is the event's identity, the principal it resolved to stands in the payload too. */
  tokenUsage(turn: Turn, identity: Identity, charge: Charge): void;
  /** What a side call of nobody's conversation used, by what it was for. */
  sideUsage(feature: string, charge: Charge): void;
  /** What a side call for a turn used. */
  sideUsageOf(turn: Turn, identity: Identity, feature: string, charge: Charge): void;
  /** What a call of a speech provider used. */
  speechUsage(use: SpeechUse): void;
  sessionForgotten(turn: Turn, identity: Identity): void;
  /** An identifier was given to a principal: a sender is let in. */
  linked(what: 'linked' | 'paired', linked: Linked): void;
  /** Who is trusted was changed; the text has passed redaction already. */
  trustChanged(change: NewTrustChange): void;
  /** A limit was reached, or (`refused`) a turn was not run because of it. */
  spend(over: Overspend, refused?: { principal_key: string | null } | null): void;
  /** A note was posted. Its label is the poster's own word, so it is not the event's session. */
  announcement(announcement: Announcement): void;
  /** An engine was installed or updated, or could not be. */
  engine(engineId: string, code: 'installed' | 'updated' | 'update_failed', message: string): void;
  /** A model server of this machine came or went. */
  modelServer(what: 'appeared' | 'gone', server: ModelServer): void;
  /** The database turned out to be damaged; the text says which and what to do. */
  damaged(text: string): void;
  service(what: 'started' | 'stopping'): void;
}

/**
 * The business events of the core, one function each, so that what is told is the same everywhere. Telemetry leaves
 * sideways: nothing here delays or fails a turn. Texts pass redaction like every other outbound text.
 */
export function createEvents(
  telemetry: Pick<Telemetry, 'emit' | 'emitLong'>,
  knownSecrets: Pick<KnownSecrets, 'redactor'>,
): Events {
  const withheld = '[withheld]';
  const mask = (text: string): string => {
    try {
      return knownSecrets.redactor().text(text);
    } catch {
      return withheld; // without the list of secrets no text leaves; the fault itself is in /health
    }
  };
  /** A person may send a megabyte; the feed keeps the beginning of it. */
  const maskLong = async (text: string): Promise<string> => {
    try {
      return await beginningInSlices(knownSecrets.redactor(), text, maxInbound);
    } catch {
      return withheld;
    }
  };
  /** A promise where the text is long: until then the event is on its way. */
  const emitted = (turn: Turn, event: PartialEvent): Promise<void> | void => {
    const { envelope } = turn;
    const whole = {
      surface: envelope.channel,
      session: envelope.conversation_key,
      instance_id: turn.instanceId,
      identity: envelope.sender.raw_id,
      request_id: turn.requestId,
      ...event,
    };
    if ((event.text?.length ?? 0) > shortText) return telemetry.emitLong(whole);
    telemetry.emit(whole);
  };
  const emit = (turn: Turn, event: PartialEvent): void => void emitted(turn, event);

  /** An injected turn says so in all its events, and who put it in. */
  const injected = ({ steering }: Turn) => (steering === undefined ? {} : { injected: true });

  return {
    inbound: async (turn: Turn, identity: Identity, observed = false): Promise<void> => {
      const { text } = turn.envelope.content;
      await emitted(turn, {
        kind: 'inbound',
        principal: identity.principal_key,
        text: text.length <= shortText ? mask(text) : await maskLong(text),
        ...injected(turn),
        payload: {
          turn_id: turn.id,
          tier: identity.trust_tier,
          ...(observed ? { observed } : {}),
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
    delivery: (delivery: Delivery) =>
      telemetry.emit({
        kind: 'delivery',
        session: delivery.conversation_key,
        instance_id: delivery.instance_id,
        injected: delivery.injected,
        payload: {
          turn_id: delivery.turn_id,
          delivery_id: delivery.id,
          what: delivery.state,
          attempts: delivery.attempts,
          ...(delivery.error === null ? {} : { error: mask(delivery.error) }),
        },
      }),
    claim: (key: string, what: 'claimed' | 'released', by: string | null) =>
      telemetry.emit({ kind: 'session', session: key, payload: { what, by } }),
    thinking: (turn: Turn, text: string) => emit(turn, { kind: 'thinking', text, payload: { turn_id: turn.id } }),
    tool: (turn: Turn, name: string, id: string, input: unknown, cwd: string | null) =>
      emit(turn, { kind: 'tool', text: name, payload: { turn_id: turn.id, id, input, cwd } }),
    toolRefused: ({ turn, identity }: ToolCaller, tool: string, reason: string) => {
      const event = { kind: 'trust', principal: identity.principal_key, payload: { what: 'tool_refused', tool, reason } };
      if (turn === null) telemetry.emit(event);
      else emit(turn, { ...event, payload: { ...event.payload, turn_id: turn.id } });
    },
    toolResult: (turn: Turn, id: string, ok: boolean, output: string) =>
      emit(turn, { kind: 'tool_result', text: output, payload: { turn_id: turn.id, id, ok } }),
    engineNotice: (turn: Turn, engineId: string, code: string, message: string) =>
      emit(turn, { kind: 'engine', text: message, payload: { turn_id: turn.id, engine_id: engineId, code } }),
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
    tokenUsage: (turn: Turn, identity: Identity, charge: Charge) => {
      const principal = identity.principal_key;
      const { payload, ...costs } = usageFields(charge);
      emit(turn, { kind: 'token-usage', principal, payload: { turn_id: turn.id, principal, ...payload }, ...costs });
    },
    sideUsage: (feature: string, charge: Charge) => {
      const { payload, ...costs } = usageFields(charge);
      const side = { feature, provider: charge.engineId, units: 'tokens', quantity: allTokens(charge) };
      telemetry.emit({ kind: 'token-usage', payload: { ...side, ...payload }, ...costs });
    },
    sideUsageOf: (turn: Turn, identity: Identity, feature: string, charge: Charge) => {
      const { payload, ...costs } = usageFields(charge);
      const principal = identity.principal_key;
      const side = { feature, provider: charge.engineId, units: 'tokens', quantity: allTokens(charge) };
      emit(turn, { kind: 'token-usage', principal, payload: { turn_id: turn.id, principal, ...side, ...payload }, ...costs });
    },
    speechUsage: ({ conversation_key, cost_usd, billed, ...side }: SpeechUse) =>
      telemetry.emit({
        kind: 'token-usage',
        session: conversation_key,
        payload: { ...side, priced: cost_usd !== null },
        cost_usd,
        billed_cost_usd: billed ? cost_usd : 0,
        billed,
      }),
    sessionForgotten: (turn: Turn, identity: Identity) =>
      emit(turn, { kind: 'session', principal: identity.principal_key, payload: { turn_id: turn.id, what: 'forgotten' } }),
    linked: (what: 'linked' | 'paired', { principal, identifier, role }: Linked) =>
      telemetry.emit({
        kind: 'trust',
        surface: identifier.surface,
        identity: identifier.value,
        principal: principal.key,
        payload: { what, principal_id: principal.id, is_new: principal.is_new, identifier_id: identifier.id, role },
      }),
    trustChanged: ({ actor, what, principal, before, after }: NewTrustChange) => {
      const { surface, value } = { ...before, ...after };
      telemetry.emit({
        kind: 'trust',
        surface: typeof surface === 'string' ? surface : null,
        identity: typeof value === 'string' ? value : null,
        principal,
        payload: { what, actor, before, after },
      });
    },
    spend: (over: Overspend, refused: { principal_key: string | null } | null = null) =>
      telemetry.emit({
        kind: 'spend',
        principal: refused === null ? over.key : refused.principal_key,
        payload: {
          what: refused === null ? over.level : 'refused',
          subject: over.subject,
          spent_usd: over.spent,
          limit_usd: over.limit,
          period: over.period.name,
          until: over.period.until,
        },
      }),
    announcement: ({ id, target, text, priority, from_session, expires_at }: Announcement) =>
      telemetry.emit({
        kind: 'announcement',
        text: mask(text),
        payload: { id, target: mask(target), priority, from: mask(from_session), expires_at },
      }),
    engine: (engineId: string, code: 'installed' | 'updated' | 'update_failed', message: string) =>
      telemetry.emit({ kind: 'engine', text: mask(message), payload: { engine_id: engineId, code } }),
    modelServer: (what: 'appeared' | 'gone', { name, base_url, models }: ModelServer) =>
      telemetry.emit({
        kind: 'engine',
        text: mask(`${name} ${what === 'appeared' ? 'answers' : 'no longer answers'} at ${base_url}.`),
        payload: { code: `model_server_${what}`, name, base_url, models: models.slice(0, 20) },
      }),
    damaged: (text: string) => telemetry.emit({ kind: 'service', text, payload: { service: 'core', what: 'database_damaged' } }),
    service: (what: 'started' | 'stopping') => telemetry.emit({ kind: 'service', payload: { service: 'core', what } }),
  };
}

export type Answerer = { engineId: string; fallbackReason: string | null };

/** A cost that nobody knows is null and `priced: false`, which is not the same as free. */
function usageFields({ usage, model, engineId, billed, billed_cost_usd }: Charge) {
  const { cost_usd, ...tokens } = usage;
  const payload = { engine_id: engineId, model, ...tokens, priced: cost_usd !== null };
  return { payload, cost_usd, billed_cost_usd, billed };
}

const allTokens = ({ usage }: Charge): number =>
  usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
