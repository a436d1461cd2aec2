import type { Identity } from '@svc/contract/trust.ts';
import type { ActiveEngine } from '../engine/engine-registry.ts';
import { asEngineId } from '../engine/fallback.ts';
import type { RunFailure } from './run-engine.ts';
import type { Prompt } from './steps/build-prompt.ts';
import { withMissedTurns } from './steps/missed-turns.ts';
import { openSession } from './steps/open-session.ts';
import { reason, type Reply } from './steps/reason.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { Turn, TurnIo } from './turn.ts';

type Asking = { turn: Turn; identity: Identity; prompt: Prompt };

/** `instead`: why another engine than the default one has answered, as text; null when it was that one. */
export type Answer = { reply: Reply; active: ActiveEngine; instead: string | null };

/**
 * Session and reasoning: the default engine answers, or, while nothing of this turn was shown or done, the next one
 * that is set to stand in for it. One that crashes at once is asked a second time.
 * @throws ServiceError with an `engine_…` code when nobody answers.
 */
export async function askEngines(deps: TurnDeps, asking: Asking, io: TurnIo): Promise<Answer> {
  const { turn, identity, prompt } = asking;
  const { engineFallback: fallback, events } = deps;
  const first = await deps.engines.active();
  const { ids, passedOver } = fallback.order(first.choice.id);
  const detours = [...passedOver];
  const crashed = new Set<string>();

  for (let place = 0; ;) {
    const id = ids[place] ?? first.choice.id;
    const next = ids[place + 1];
    const active = id === first.choice.id ? first : await deps.engines.open(asEngineId(id));
    const session = await openSession(deps, turn, identity, prompt, active.engine.id);
    // First the turn is safe, then its engine begins: a turn that ends the service is known to have run, and what the engine is
    // told once is not told again after a crash.
    await deps.db.flush();
    const isAskedAgain = (failure: RunFailure) => failure.code === 'engine_crashed' && !crashed.has(id);
    const goesOn = (failure: RunFailure, isTouched: boolean): boolean => {
      if (!isTouched && isAskedAgain(failure)) return true;
      fallback.failed(id, failure);
      return !isTouched && next !== undefined && fallback.stands(failure.code);
    };
    const told = session.missed > 0 ? await withMissedTurns(deps, turn, prompt, session) : prompt;
    const reply = await reason(deps, { turn, identity, prompt: told, session, active, goesOn }, io);
    if (reply.ending !== 'refused') {
      fallback.answered(id);
      // Some of it may be from another turn, which need not have been on a public surface.
      return { reply, active, instead: detours.length === 0 ? null : reply.redactor.text(detours.join(' ')) };
    }
    const { message } = reply.failure;
    if (isAskedAgain(reply.failure)) {
      crashed.add(id);
      events.engineNotice(turn, id, 'retry', `${id} is asked again: ${message}`);
      continue;
    }
    detours.push(`${id} could not answer: ${message}`);
    events.engineNotice(turn, id, 'fallback', `${next} is asked instead of ${id}: ${message}`);
    place++;
  }
}
