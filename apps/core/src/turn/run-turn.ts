import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { ActiveEngine } from '../engine/engine-pool.ts';
import { admit } from './steps/admit.ts';
import { buildPrompt, type Prompt } from './steps/build-prompt.ts';
import { checkSpend } from './steps/check-spend.ts';
import { finish } from './steps/finish.ts';
import { withMissedTurns } from './steps/missed-turns.ts';
import { moderate } from './steps/moderate.ts';
import { openSession } from './steps/open-session.ts';
import { reasonWithFallback } from './steps/reason-with-fallback.ts';
import { reason, type Reasoned } from './steps/reason.ts';
import { toResult } from './to-result.ts';
import type { PipelineParts } from './turn-deps.ts';
import type { Turn, TurnIo } from './turn.ts';
import { watchRights } from './watch-rights.ts';

/**
 * One turn, in the order of the specification. Each step may end it: after a refusal no later step runs.
 * Called with the conversation's lock and a slot held.
 */
export async function runTurn(deps: PipelineParts, turn: Turn, io: TurnIo): Promise<HandleResult> {
  const { conversation_key, public: isPublic } = turn.envelope;
  const isClaimed = deps.claims.isClaimed(conversation_key);
  const admission = await admit(deps, turn, isClaimed);
  if ('ended' in admission) {
    const isTold =
      isClaimed && admission.ended.outcome === 'observed' && isPublic !== true && deps.claims.takePauseNotice(conversation_key);
    return isTold ? toResult(turn, 'command', pausedText) : admission.ended;
  }
  const endWatch = watchRights(deps, turn, admission.identity);
  deps.turnActions.begin(turn);
  try {
    return await answer(deps, turn, admission.identity, io);
  } finally {
    endWatch();
    deps.turnActions.end(turn);
  }
}

async function answer(deps: PipelineParts, turn: Turn, identity: Identity, io: TurnIo): Promise<HandleResult> {
  const since = deps.clock.elapsed();
  await deps.events.inbound(turn, identity);
  const prompt = await buildPrompt(deps, turn, identity);
  const overspent = checkSpend(deps, turn, identity); // first: the model that moderates may cost something, too
  if (overspent !== null) return overspent;
  const moderated = await moderate(deps, turn, identity, io.signal);
  if ('ended' in moderated) return moderated.ended;
  const asking = { turn, identity, prompt: { ...prompt, transcript: moderated.transcript } };
  const reasoned = await reasonWithFallback(deps, asking, (engine) => ask(deps, asking, engine, io));
  const handled = await finish(deps, { ...asking, answer: reasoned, since }, io);
  if (handled.outcome === 'replied' && handled.actions.some(({ type }) => type === 'reply')) {
    const { session, active } = reasoned;
    deps.titles.answered({ turn, identity, session, engineId: active.engine.id, reply: reasoned.reply.text });
  }
  return handled;
}

/** Sent once each time a conversation is claimed. */
const pausedText =
  'This conversation is open in a terminal at the moment. Your messages are kept, and read when it continues here.';

type Asking = { turn: Turn; identity: Identity; prompt: Prompt };

/** The steps that are run for each engine: opening its session, and reasoning. */
async function ask(deps: PipelineParts, asking: Asking, active: ActiveEngine, io: TurnIo): Promise<Reasoned> {
  const { turn, identity, prompt } = asking;
  const session = await openSession(deps, turn, identity, prompt, active.engine.id);
  deps.titles.opened(turn, session);
  // The turn is committed before its engine begins: a turn that ends the service is known to have run, and what an engine is
  // told once is not told again after a crash.
  await deps.db.flush();
  const told = session.missed > 0 ? await withMissedTurns(deps, turn, prompt, session) : prompt;
  return reason(deps, { turn, identity, prompt: told, session, active }, io);
}
