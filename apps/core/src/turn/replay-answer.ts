import type { Envelope } from '@svc/contract/envelope.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { conflict, ServiceError } from '@svc/service-kit/service-error.ts';
import type { LiveTurn } from './live-turns.ts';
import { originOf, originOfRow } from './origin.ts';
import { toResult } from './to-result.ts';
import type { PipelineParts } from './turn-deps.ts';
import type { JournalRow } from './turn-row.ts';
import type { Caller } from './turn.ts';

/**
 * The earlier answer to a message that the conversation has had before. Null for a failed message that is sent again, and for one
 * whose end could not be stored: it is in the journal again like a new one, and has to be run. A connector that only returns for
 * the answer gets the failure. Every caller gets the failure of a turn that was interrupted too often: otherwise a message that
 * stops the service would be run again and again. For a reply that was pushed meanwhile the outcome is `delivered`, or the channel
 * would show it twice.
 */
export async function replayAnswer(
  deps: Pick<PipelineParts, 'journal' | 'deliveries' | 'liveTurns'>,
  live: LiveTurn,
  caller: Caller,
): Promise<HandleResult | null> {
  const { envelope } = live.turn;
  const row = await deps.journal.find(envelope.conversation_key, envelope.message_id ?? '');
  if (row === undefined) throw new Error('the journal refused a message that it does not have');
  if (originOfRow(row) !== originOf(envelope)) throw otherSender();
  const isPushed = caller.isAgain === true && (await deps.deliveries.isFor(row.id));
  if (isPushed) return { ...toResult(live.turn, 'delivered', ''), turn_id: row.id };
  const failure = row.error === null ? null : (JSON.parse(row.error) as ErrorBody);
  if (failure !== null && (caller.isAgain === true || failure.error === 'turn_interrupted')) throw toError(failure);
  if (row.state === 'failed' || isLeft(deps, live, row)) {
    live.turn.seq = row.seq;
    await deps.journal.again(live.turn);
    return null;
  }
  if (row.result === null) throw conflict('This message is part of a turn that is still running. Try again in a moment.');
  return JSON.parse(row.result) as HandleResult;
}

/** Its turn is over, but neither its end nor its failure could be stored. */
function isLeft({ liveTurns }: Pick<PipelineParts, 'liveTurns'>, { turn }: LiveTurn, row: JournalRow): boolean {
  const { conversation_key, message_id = '' } = turn.envelope;
  return row.result === null && liveTurns.holdersOf(conversation_key, message_id).length === 0;
}

/** Whether a message that is only to be observed was answered before: then it is not context for the next turn. */
export async function hasHadTurn({ journal }: Pick<PipelineParts, 'journal'>, envelope: Envelope): Promise<boolean> {
  const { conversation_key, message_id } = envelope;
  const row = message_id === undefined ? undefined : await journal.find(conversation_key, message_id);
  return row !== undefined && row.state !== 'failed' && originOfRow(row) === originOf(envelope);
}

/**
 * The message is already live: its turn answers this caller too. A caller that only reports the message (`async`) does not wait for
 * the answer and does not get it. @throws ServiceError `conflict` when the live message is another sender's
 */
export async function joinTurn(live: LiveTurn, envelope: Envelope, caller: Caller): Promise<HandleResult> {
  if (originOf(live.turn.envelope) !== originOf(envelope)) throw otherSender();
  const isSeenOnly = envelope.delivery === 'async' && live.turn.envelope.delivery !== 'async';
  if (isSeenOnly) return toResult(live.turn, 'observed', '');
  live.attach(caller);
  return live.result;
}

function toError({ ok: _ok, error, message, request_id: _requestId, ...details }: ErrorBody): ServiceError {
  return new ServiceError(error, message, { details });
}

const otherSender = () =>
  conflict('Another sender has used this message_id in this conversation. Give each message an id of its own.');
