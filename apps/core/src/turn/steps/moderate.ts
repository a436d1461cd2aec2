import type { PriorMessage } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Asked, Verdict } from '../../moderation/moderation.ts';
import { endAborted } from '../to-result.ts';
import { toResult } from '../to-result.ts';
import type { TurnDeps } from '../turn-deps.ts';
import { isByOperator, type Turn } from '../turn.ts';

type Deps = Pick<TurnDeps, 'moderation' | 'events' | 'pricing' | 'spend'>;

/** The part of the transcript that may reach the engine; or how the turn ends because its message may not. */
export type Moderated = { transcript: PriorMessage[] } | { ended: HandleResult };

/** Decides whether the message may reach the engine. An operator's own text is not moderated. */
export async function moderate(deps: Deps, turn: Turn, identity: Identity, signal: AbortSignal): Promise<Moderated> {
  const verdict = await judge(deps, turn, identity, signal);
  if (verdict === null) return { ended: endAborted(turn, signal) };
  if (!verdict.allowed) return { ended: { ...toResult(turn, 'blocked', verdict.reply), blocked_by: 'moderation' } };
  return { transcript: [...verdict.transcript] };
}

/** Null when the turn was aborted meanwhile. */
async function judge(deps: Deps, turn: Turn, identity: Identity, signal: AbortSignal): Promise<Verdict | null> {
  const { text, system = '', transcript = [] } = turn.envelope.content;
  if (isByOperator(turn)) return { allowed: true, transcript };
  const onUsage: Asked['onUsage'] = (used) => countUsage(deps, turn, identity, used);
  const verdict = await deps.moderation.check({ text, system, transcript }, identity, { signal, onUsage });
  if (verdict === null) return null;
  if (verdict.fault !== undefined) deps.events.moderationFailed(turn, identity, verdict.fault, verdict.allowed);
  if (!verdict.allowed) deps.events.blocked(turn, identity, verdict.rule);
  else if (verdict.transcript.length < transcript.length) {
    deps.events.transcriptCut(turn, identity, transcript.length - verdict.transcript.length);
  }
  return verdict;
}

/** Estimated, because the endpoint does not report its usage. */
function countUsage(
  { pricing, events, spend }: Deps,
  turn: Turn,
  identity: Identity,
  { model, chars, isPaid }: Parameters<Asked['onUsage']>[0],
): void {
  const usage = {
    input_tokens: Math.ceil(chars / 4),
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    estimated: true,
    cost_usd: null,
  };
  const charge = pricing.charge({ usage, model, engineId: 'openai', auth: isPaid ? 'api_key' : 'local' });
  events.sideUsageOf(turn, identity, 'moderation', charge);
  if ((charge.usage.cost_usd ?? 0) > 0) spend.addSideCall(identity, charge.usage.cost_usd, turn.envelope);
}
