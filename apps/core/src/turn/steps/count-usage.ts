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

/** Counts the run that ends a turn. Aborted and failed turns cost something too, and are counted like any other. */
export async function countTurn(deps: CountDeps, used: Used): Promise<void> {
  const { usage, model } = used.charge;
  countTokens(deps, used);
  await deps.sessions.addTurn(used.session, {
    engine_session_id: used.engineSessionId,
    input_tokens: usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
    output_tokens: usage.output_tokens,
    cost_usd: usage.cost_usd,
    model,
  });
}

/** Counts a failed run after which another engine is tried: it is not a turn of the session, and only its reported usage counts. */
export async function countFailedRun(deps: CountDeps, used: Used): Promise<void> {
  if (used.engineSessionId !== null) await deps.sessions.keepEngineSession(used.session, used.engineSessionId);
  if (used.isReported) countTokens(deps, used);
}

function countTokens({ events, spend }: CountDeps, { turn, identity, charge }: Used): void {
  events.tokenUsage(turn, identity, charge);
  spend.add(identity, charge.usage.cost_usd, turn.envelope);
}
