import type { HandleResult } from '@svc/contract/turn.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { CoreContext } from '../context.ts';
import { deny } from './deny.ts';
import { observe } from './observe.ts';
import { buildPrompt } from './steps/build-prompt.ts';
import { moderate } from './steps/moderate.ts';
import { openSession } from './steps/open-session.ts';
import { reason } from './steps/reason.ts';
import { redactReply } from './steps/redact-reply.ts';
import { resolveIdentity } from './steps/resolve-identity.ts';
import { toResult } from './to-result.ts';
import type { AbortReason } from './turn-queue.ts';
import type { Turn, TurnIo } from './turn.ts';

/**
 * One turn, in the order of the specification: identity, prompt, moderation, session, reasoning, redaction.
 * Called with the conversation's lock and a slot held.
 */
export async function runTurn(deps: CoreContext, turn: Turn, io: TurnIo): Promise<HandleResult> {
  const since = deps.clock.now();
  const identity = await resolveIdentity(deps, turn);
  if (identity.denied) return deny(deps, turn, identity);
  if (deps.claims.isClaimed(turn.envelope.conversation_key)) return observe(deps, turn, identity);
  deps.events.inbound(turn, identity);
  const prompt = await buildPrompt(deps, turn, identity);
  if (prompt.announcedAfter !== null) await rememberCursor(deps, turn, prompt.announcedAfter);
  const verdict = moderate(deps, turn, identity);
  if (!verdict.allowed) return toResult(turn, 'blocked', verdict.reply);
  const within = deps.spend.check(identity, turn.envelope.public === true);
  if (!within.allowed) return toResult(turn, 'blocked', within.reply);
  const active = await deps.engines.active();
  const session = await openSession(deps, turn, identity, prompt, active.engine.id);
  // What the engine is told once must not be told again after a crash: first the cursor is safe, then the engine hears it.
  if (prompt.announcedAfter !== null) await deps.liveTurns.flush();
  const reply = await reason(deps, { turn, identity, prompt, session, active }, io);
  if (prompt.observedUpTo > 0) await deps.observed.clear(turn.envelope.conversation_key, prompt.observedUpTo);
  // Nothing is awaited from here on: a turn that was told to end in time is silent, even when its engine was done.
  const why = io.signal.reason as AbortReason | undefined;
  const ending = why === 'operator' ? 'aborted' : reply.ending;
  if (ending === 'aborted' && why === 'shutdown') throw stopped();
  const facts = { engine_id: active.engine.id, model: reply.model ?? undefined, usage: reply.usage };
  if (ending !== 'done') {
    if (reply.text !== '') io.sink({ type: 'retract' });
    return { ...toResult(turn, ending, ''), ...facts };
  }
  const text = redactReply(deps, reply.text, reply.redactor);
  deps.events.outbound(turn, identity, text, deps.clock.now() - since);
  return { ...toResult(turn, 'replied', text), ...facts };
}

/** The session's cursor moves on when this turn begins; should it have to run again, it finds its announcements all the same. */
async function rememberCursor({ journal }: CoreContext, turn: Turn, announcedAfter: number): Promise<void> {
  if (turn.announcedAfter === undefined) await journal.keepInput({ ...turn, announcedAfter });
}

const stopped = () =>
  unavailable('The service stopped before the answer was there. The message is kept and answered when the service is back.');
