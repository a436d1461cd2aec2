import type { Action, ExtraAction, HandleResult, Outcome } from '@svc/contract/turn.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { AbortReason } from './ticket.ts';
import type { Turn } from './turn.ts';

/** The result of a turn, with the actions that the channel renders: no reply for an empty text. */
export const toResult = (turn: Turn, outcome: Outcome, text: string, extras: readonly ExtraAction[] = []): HandleResult => ({
  actions: [...toActions(text), ...extras],
  outcome,
  conversation_key: turn.envelope.conversation_key,
  turn_id: turn.id,
});

const toActions = (text: string): Action[] => (text.trim() === '' ? [] : [{ type: 'reply', text }]);

/**
 * The result of an aborted turn: it is silent.
 * @throws ServiceError `unavailable` when the service stops: the turn stays open, and is run when the service is back.
 */
export function endAborted(turn: Turn, { reason }: AbortSignal): HandleResult {
  if ((reason as AbortReason | undefined) !== 'shutdown') return toResult(turn, 'aborted', '');
  throw unavailable(
    'The service stopped before the answer was ready. The message is kept, and answered when the service is back.',
  );
}
