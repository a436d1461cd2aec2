import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { endAborted } from '../to-result.ts';
import type { AbortReason } from '../ticket.ts';
import { toResult } from '../to-result.ts';
import type { PipelineParts } from '../turn-deps.ts';
import type { Turn, TurnIo } from '../turn.ts';
import type { Prompt } from './build-prompt.ts';
import type { Answer } from './reason-with-fallback.ts';
import { redactReply } from './redact-reply.ts';

type Deps = Pick<PipelineParts, 'observed' | 'knownSecrets' | 'events' | 'clock' | 'turnActions'>;
/** `since`: when the turn began, by the monotonic clock. */
type Reasoned = { turn: Turn; identity: Identity; prompt: Pick<Prompt, 'observedUpTo'>; answer: Answer; since: number };

/** Ends a turn that an engine has answered: the result for its callers, masked with the secrets known by now. */
export async function finish(deps: Deps, reasoned: Reasoned, io: TurnIo): Promise<HandleResult> {
  const { turn, prompt, answer } = reasoned;
  const redacted = redactReply(deps, turn, answer.reply.text, answer.reply.redactor);
  const handled = end(deps, reasoned, io, typeof redacted === 'string' ? redacted : await redacted);
  // Committed with the end of the turn: one that a stopping service ends is run again, and needs the same context.
  if (prompt.observedUpTo > 0) await deps.observed.drop(turn.envelope.conversation_key, prompt.observedUpTo);
  return handled;
}

/** Nothing is awaited here: a turn that is aborted before this is silent, even if its engine was done. */
function end(deps: Deps, { turn, identity, answer, since }: Reasoned, io: TurnIo, text: string): HandleResult {
  const { reply, active, fallbackReason } = answer;
  const isAborted = reply.ending === 'aborted' || (io.signal.reason as AbortReason | undefined) === 'operator';
  const extras = deps.turnActions.end(turn);
  if (isAborted || reply.ending === 'silent') {
    const ended = isAborted ? endAborted(turn, io.signal) : toResult(turn, extras.length > 0 ? 'replied' : 'silent', '', extras);
    if (reply.text !== '') io.sink({ type: 'retract' });
    return { ...ended, ...factsOf(answer) };
  }
  // A secret became known since the last delta.
  if (text !== reply.text) showAgain(io, text);
  const ms = deps.clock.elapsed() - since;
  deps.events.outbound(turn, identity, text, ms, { engineId: active.engine.id, fallbackReason });
  return { ...toResult(turn, 'replied', text, extras), ...factsOf(answer) };
}

/** Callers that saw the streamed text get it again as it is in the result. */
function showAgain({ sink }: TurnIo, text: string): void {
  sink({ type: 'retract' });
  sink({ type: 'delta', text });
  sink({ type: 'segment', text });
}

function factsOf({ reply, active, fallbackReason }: Answer): Partial<HandleResult> {
  const warnings = fallbackReason === null ? reply.warnings : [fallbackReason, ...reply.warnings];
  return {
    engine_id: active.engine.id,
    model: reply.model ?? undefined,
    usage: reply.usage,
    ...(warnings.length > 0 && { warnings }),
  };
}
