import type { HandleResult, Outcome } from '@svc/contract/turn.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { CoreContext } from '../context.ts';
import { buildPrompt } from './steps/build-prompt.ts';
import { moderate } from './steps/moderate.ts';
import { openSession } from './steps/open-session.ts';
import { reason } from './steps/reason.ts';
import { redactReply } from './steps/redact-reply.ts';
import { resolveIdentity } from './steps/resolve-identity.ts';
import { toActions } from './to-actions.ts';
import type { AbortReason } from './turn-queue.ts';
import type { Turn, TurnIo } from './turn.ts';

/**
 * One turn, in the order of the specification: identity, prompt, moderation, session, reasoning, redaction.
 * Called with the conversation's lock and a slot held.
 */
export async function runTurn(deps: CoreContext, turn: Turn, io: TurnIo): Promise<HandleResult> {
  const since = deps.clock.now();
  const identity = await resolveIdentity(deps, turn);
  if (identity.denied) return denied(turn);
  const prompt = await buildPrompt(deps, turn, identity);
  const verdict = moderate(deps, turn, identity);
  if (!verdict.allowed) return result(turn, 'blocked', verdict.reply);
  const active = await deps.engines.active();
  const session = await openSession(deps, turn, identity, active.engine.id);
  const reply = await reason(deps, { turn, identity, prompt, session, active }, io);
  if (prompt.observedUpTo > 0) await deps.observed.clear(turn.envelope.conversation_key, prompt.observedUpTo);
  // Nothing is awaited from here on: a turn that was told to end in time is silent, even when its engine was done.
  const why = io.signal.reason as AbortReason | undefined;
  const ending = why === 'operator' ? 'aborted' : reply.ending;
  if (ending === 'aborted' && why === 'shutdown') throw stopped();
  const facts = { engine_id: active.engine.id, model: reply.model ?? undefined, usage: reply.usage };
  if (ending !== 'done') {
    if (reply.text !== '') io.sink({ type: 'retract' });
    return { ...result(turn, ending, ''), ...facts };
  }
  const text = redactReply(deps, reply.text);
  deps.events.outbound(turn, identity, text, deps.clock.now() - since);
  return { ...result(turn, 'replied', text), ...facts };
}

const stopped = () => unavailable('The service stopped before the answer was there. Send the message again.');

/** A sender without access: said on private surfaces, nothing on public ones. No engine is called, no session stored. */
export const denied = (turn: Turn): HandleResult => result(turn, 'denied', turn.envelope.public === true ? '' : 'no access');

export const result = (turn: Turn, outcome: Outcome, text: string): HandleResult => ({
  actions: toActions(text),
  outcome,
  conversation_key: turn.envelope.conversation_key,
  turn_id: turn.id,
});
