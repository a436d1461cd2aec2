import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import { askEngines } from './ask-engines.ts';
import { deny } from './deny.ts';
import { observe } from './observe.ts';
import { buildPrompt } from './steps/build-prompt.ts';
import { moderate } from './steps/moderate.ts';
import type { Reply } from './steps/reason.ts';
import { redactReply } from './steps/redact-reply.ts';
import { resolveIdentity } from './steps/resolve-identity.ts';
import type { AbortReason } from './ticket.ts';
import { toResult } from './to-result.ts';
import type { PipelineParts } from './turn-deps.ts';
import type { Turn, TurnIo } from './turn.ts';
import { watchRights } from './watch-rights.ts';

/**
 * One turn, in the order of the specification: identity, prompt, moderation, session, reasoning, redaction.
 * Called with the conversation's lock and a slot held.
 */
export async function runTurn(deps: PipelineParts, turn: Turn, io: TurnIo): Promise<HandleResult> {
  const identity = await resolveIdentity(deps, turn);
  if (identity.denied) return deny(deps, turn, identity);
  if (deps.claims.isClaimed(turn.envelope.conversation_key)) return observe(deps, turn, identity);
  const endWatch = watchRights(deps, turn, identity);
  try {
    return await answer(deps, turn, identity, io);
  } finally {
    endWatch();
  }
}

/** From the prompt on: who speaks is known. */
async function answer(deps: PipelineParts, turn: Turn, identity: Identity, io: TurnIo): Promise<HandleResult> {
  const since = deps.clock.elapsed();
  await deps.events.inbound(turn, identity);
  const prompt = await buildPrompt(deps, turn, identity);
  if (prompt.announcedAfter !== null) await rememberCursor(deps, turn, prompt.announcedAfter);
  const verdict = await moderate(deps, turn, identity, io.signal);
  if (verdict === null) return endBefore(turn, io.signal);
  if (!verdict.allowed) return toResult(turn, 'blocked', verdict.reply);
  const within = deps.spend.check(identity, turn.envelope.public === true);
  if (!within.allowed) return toResult(turn, 'blocked', within.reply);
  const judged = { ...prompt, transcript: [...verdict.transcript] };
  const { reply, active, instead } = await askEngines(deps, { turn, identity, prompt: judged }, io);
  if (prompt.observedUpTo > 0) await deps.observed.clear(turn.envelope.conversation_key, prompt.observedUpTo);
  // Nothing is awaited from here on: a turn that was told to end in time is silent, even when its engine was done.
  const why = io.signal.reason as AbortReason | undefined;
  const ending = why === 'operator' ? 'aborted' : reply.ending;
  if (ending === 'aborted' && why === 'shutdown') throw stopped();
  const facts = {
    engine_id: active.engine.id,
    model: reply.model ?? undefined,
    usage: reply.usage,
    ...warningsOf(reply, instead),
  };
  if (ending !== 'done') {
    if (reply.text !== '') io.sink({ type: 'retract' });
    return { ...toResult(turn, ending, ''), ...facts };
  }
  const text = redactReply(deps, turn, reply.text, reply.redactor);
  // A secret became known since the last delta.
  if (text !== reply.text) withdrawFor(io, text);
  deps.events.outbound(turn, identity, text, deps.clock.elapsed() - since, { engineId: active.engine.id, instead });
  return { ...toResult(turn, 'replied', text), ...facts };
}

/** The session's cursor moves on when this turn begins; should it have to run again, it finds its announcements all the same. */
async function rememberCursor({ journal }: PipelineParts, turn: Turn, announcedAfter: number): Promise<void> {
  if (turn.announcedAfter === undefined) await journal.keepInput({ ...turn, announcedAfter });
}

/** Who was shown the text gets it again as it is in the result. */
function withdrawFor({ sink }: TurnIo, text: string): void {
  sink({ type: 'retract' });
  sink({ type: 'delta', text });
  sink({ type: 'segment', text });
}

const warningsOf = ({ warnings }: Reply, instead: string | null): { warnings?: string[] } =>
  warnings.length === 0 && instead === null ? {} : { warnings: instead === null ? warnings : [instead, ...warnings] };

/** Told to end while its message was judged. */
function endBefore(turn: Turn, { reason }: AbortSignal): HandleResult {
  if ((reason as AbortReason) === 'shutdown') throw stopped();
  return toResult(turn, 'aborted', '');
}

const stopped = () =>
  unavailable('The service stopped before the answer was there. The message is kept and answered when the service is back.');
