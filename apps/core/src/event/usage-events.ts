import type { SpeechUse } from '@svc/contract/speech.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Charge } from '../pricing/pricing.ts';
import type { Overspend } from '../spend/spend-words.ts';
import type { Speaker } from '../speech/speaker.ts';
import type { Turn } from '../turn/turn.ts';
import type { EventOut } from './event-out.ts';

/** The usage of turns, side calls and speech, and the limits that were reached. */
export interface UsageEvents {
  /**
   * The usage of a turn: the event's identity is the raw sender; the payload contains the principal as well. `turns`: 0 for a run of a turn
   * that is counted with another one.
   */
  tokenUsage(turn: Turn, identity: Identity, charge: Charge, turns: 0 | 1): void;
  /** The usage of a side call outside any conversation, by its purpose. */
  sideUsage(feature: string, charge: Charge): void;
  /** The usage of a side call for a turn. */
  sideUsageOf(turn: Turn, identity: Identity, feature: string, charge: Charge): void;
  /** The usage of a speech provider's call, and the sender for whom a connector made it. */
  speechUsage(use: SpeechUse, speaker: Speaker | null): void;
  /** A limit was reached, or (`refused`) a turn was refused because of it. */
  spend(over: Overspend, refused?: { principal_key: string | null } | null): void;
}

export const usageEvents = ({ send, emit }: EventOut): UsageEvents => ({
  tokenUsage: (turn: Turn, identity: Identity, charge: Charge, turns: 0 | 1) => {
    const principal = identity.principal_key;
    const { payload, ...costs } = usageFields(charge);
    const counted = turns === 1 ? {} : { turns };
    emit(turn, { kind: 'token-usage', principal, payload: { turn_id: turn.id, principal, ...counted, ...payload }, ...costs });
  },
  sideUsage: (feature: string, charge: Charge) => {
    const { payload, ...costs } = usageFields(charge);
    const side = { feature, provider: charge.engineId, units: 'tokens', quantity: allTokens(charge) };
    send({ kind: 'token-usage', payload: { ...side, ...payload }, ...costs });
  },
  sideUsageOf: (turn: Turn, identity: Identity, feature: string, charge: Charge) => {
    const { payload, ...costs } = usageFields(charge);
    const principal = identity.principal_key;
    const side = { feature, provider: charge.engineId, units: 'tokens', quantity: allTokens(charge) };
    emit(turn, { kind: 'token-usage', principal, payload: { turn_id: turn.id, principal, ...side, ...payload }, ...costs });
  },
  speechUsage: ({ conversation_key, cost_usd, billed, ...side }: SpeechUse, speaker: Speaker | null) =>
    send({
      kind: 'token-usage',
      ...(speaker !== null && {
        surface: speaker.from.channel,
        identity: speaker.from.sender.raw_id,
        principal: speaker.identity.principal_key,
      }),
      session: conversation_key,
      payload: { ...side, priced: cost_usd !== null },
      cost_usd,
      billed_cost_usd: billed ? cost_usd : 0,
      billed,
    }),
  spend: (over: Overspend, refused: { principal_key: string | null } | null = null) =>
    send({
      kind: 'spend',
      ...(over.subject === 'sender' && { surface: over.surface, identity: over.key }),
      principal: refused !== null ? refused.principal_key : over.subject === 'sender' ? null : over.key,
      payload: {
        what: refused === null ? over.level : 'refused',
        subject: over.subject,
        spent_usd: over.spent,
        limit_usd: over.limit,
        period: over.period.name,
        until: over.period.until,
      },
    }),
});

/** An unknown cost is null with `priced: false`, which is different from free. */
export function usageFields({ usage, model, engineId, billed, billed_cost_usd }: Charge) {
  const { cost_usd, ...tokens } = usage;
  const payload = { engine_id: engineId, model, ...tokens, priced: cost_usd !== null };
  return { payload, cost_usd, billed_cost_usd, billed };
}

const allTokens = ({ usage }: Charge): number =>
  usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
