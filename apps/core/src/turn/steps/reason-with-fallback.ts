import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { ActiveEngine } from '../../engine/engine-pool.ts';
import { asEngineId } from '../../engine/fallback.ts';
import { engineOfTurn } from '../engine-of-turn.ts';
import type { OpenSession } from '../../session/session-store.ts';
import type { RunFailure } from '../run-limits.ts';
import type { TurnDeps } from '../turn-deps.ts';
import { countFailedRun, countTurn, type CountDeps } from './count-usage.ts';
import type { Failed, Reasoned, Reasoning, Reply } from './reason.ts';

type Deps = CountDeps & Pick<TurnDeps, 'engines' | 'instanceRules' | 'engineFallback'>;

/** `fallbackReason`: why an engine other than the default one answered; null when the default one did. */
export type Answer = { reply: Reply; active: ActiveEngine; session: OpenSession; fallbackReason: string | null };

/**
 * Reasons with the engine of the turn or, as long as the turn has shown and done nothing, with the next fallback engine. An
 * engine that crashes at once is tried a second time. `ask` runs one engine.
 * @throws ServiceError with an `engine_…` code when none answers.
 */
export async function reasonWithFallback(
  deps: Deps,
  { turn, identity }: Pick<Reasoning, 'turn' | 'identity'>,
  ask: (active: ActiveEngine) => Promise<Reasoned>,
): Promise<Answer> {
  const { engineFallback: fallback, events } = deps;
  const notice = (engineId: string, code: string, message: string) =>
    events.engineNotice(turn, identity, { engineId, code, message });
  const first = await engineOfTurn(deps, turn);
  const { ids, passedOver } = fallback.order(first.choice.id);
  const fallbackReasons = [...passedOver];
  const crashed = new Set<string>();
  let isCounted = false;

  for (let place = 0; ;) {
    const id = ids[place] ?? first.choice.id;
    const next = ids[place + 1];
    const active = id === first.choice.id ? first : await deps.engines.open(asEngineId(id));
    const { outcome, used } = await ask(active);
    if (outcome.ending !== 'failed') {
      await countTurn(deps, used, isCounted);
      fallback.answered(id);
      return { reply: outcome, active, session: used.session, fallbackReason: fallbackReasonOf(fallbackReasons, outcome) };
    }
    const { failure } = outcome;
    switch (stepAfter(deps, outcome, { id, next, hasCrashed: crashed.has(id) })) {
      case 'give_up':
        await countTurn(deps, used, isCounted);
        throw toError(failure, active.engine.id);
      case 'again':
        isCounted = await countFailedRun(deps, used, isCounted);
        crashed.add(id);
        notice(id, 'retry', `${id} is asked again: ${failure.message}`);
        break;
      case 'next':
        isCounted = await countFailedRun(deps, used, isCounted);
        fallbackReasons.push(`${id} could not answer: ${failure.message}`);
        notice(id, 'fallback', `${next} is asked instead of ${id}: ${failure.message}`);
        place++;
    }
  }
}

type Asked = { id: string; next: string | undefined; hasCrashed: boolean };

/** What to do after a failure. If the engine stopped without reporting an end, it is unknown what it did, so nothing is retried. */
function stepAfter({ engineFallback }: Deps, { failure, shown }: Failed, { id, next, hasCrashed }: Asked) {
  if (shown === 'unknown') return 'give_up';
  const isUntouched = shown === 'nothing';
  if (isUntouched && failure.code === 'engine_crashed' && !hasCrashed) return 'again';
  engineFallback.failed(id, failure);
  return isUntouched && next !== undefined && engineFallback.stands(failure.code) ? 'next' : 'give_up';
}

/** Masked like the reply: parts may come from another turn, which may have been private. */
const fallbackReasonOf = (reasons: readonly string[], { redactor }: Reply): string | null =>
  reasons.length === 0 ? null : redactor.text(reasons.join(' '));

function toError({ code, message, retryable, retryAfterMs }: RunFailure, engine_id: string): ServiceError {
  const retryAfter = retryAfterMs === undefined ? {} : { retry_after_s: Math.ceil(retryAfterMs / 1000) };
  return new ServiceError(code, message, { details: { retryable, engine_id, ...retryAfter } });
}
