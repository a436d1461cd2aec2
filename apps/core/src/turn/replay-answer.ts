import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { conflict, ServiceError } from '@svc/service-kit/service-error.ts';
import type { LiveTurn } from './live-turns.ts';
import { originOf, originOfRow } from './origin.ts';
import { toResult } from './to-result.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { Caller } from './turn.ts';

/**
 * A message the conversation has had before: the answer it got then. Null for one that failed and is sent again: it is in the
 * journal as a new one is, and is to be run. A connector that only comes back for the answer gets the failure, and everybody gets that of a turn which was
 * cut off too often, or a message that stops the service would be run on and on. Of what was pushed meanwhile a
 * connector is told, or the channel would show it twice.
 */
export async function replayAnswer(
  deps: Pick<TurnDeps, 'journal' | 'deliveries'>,
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
  if (row.state === 'failed') {
    live.turn.seq = row.seq;
    await deps.journal.again(live.turn);
    return null;
  }
  if (row.result === null) throw conflict('This message is being taken up again after a restart. Ask again in a moment.');
  return JSON.parse(row.result) as HandleResult;
}

function toError({ ok: _ok, error, message, request_id: _requestId, ...details }: ErrorBody): ServiceError {
  return new ServiceError(error, message, { details });
}

export const otherSender = () =>
  conflict('Another sender has used this message_id in this conversation. Give each message an id of its own.');
