import type { Identity } from '@svc/contract/trust.ts';
import type { Charge } from '../../pricing/pricing.ts';
import type { OpenSession } from '../../session/session-store.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';

/** What one run of an engine has used. */
export type Used = {
  turn: Turn;
  identity: Identity;
  session: OpenSession;
  charge: Charge;
  /** True when the engine reported its usage; otherwise it is estimated. */
  isReported: boolean;
  /** The engine's resume id, when it still has to be stored. */
  engineSessionId: string | null;
};

export type CountDeps = Pick<TurnDeps, 'events' | 'spend' | 'sessions'>;

/**
 * Counts the run that ends a turn. Aborted and failed turns cost something too, and are counted like any other. `isCounted`: a failed run of
 * the turn stands for it in the sums.
 */
export async function countTurn(deps: CountDeps, used: Used, isCounted = false): Promise<void> {
  const { turn, identity, charge } = used;
  const { usage, model } = charge;
  deps.events.tokenUsage(turn, identity, charge, isCounted ? 0 : 1);
  deps.spend.add(identity, usage.cost_usd, turn.envelope);
  await deps.sessions.addTurn(used.session, {
    engine_session_id: used.engineSessionId,
    input_tokens: usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
    output_tokens: usage.output_tokens,
    cost_usd: usage.cost_usd,
    model,
  });
}

/**
 * Counts a failed run after which another engine is tried: it is not a turn of the session, and only its reported usage counts. In the sums of
 * usage a turn is counted once: with its first run without a price, which makes the turn an unpriced one, else with the run that ends it.
 * Returns whether it has been counted.
 */
export async function countFailedRun(deps: CountDeps, used: Used, isCounted: boolean): Promise<boolean> {
  const { turn, identity, charge } = used;
  if (used.engineSessionId !== null) await deps.sessions.keepEngineSession(used.session, used.engineSessionId);
  if (!used.isReported) return isCounted;
  const { cost_usd: cost } = charge.usage;
  const stands = !isCounted && cost === null;
  deps.events.tokenUsage(turn, identity, charge, stands ? 1 : 0);
  deps.spend.addSideCall(identity, cost, turn.envelope);
  return isCounted || stands;
}
