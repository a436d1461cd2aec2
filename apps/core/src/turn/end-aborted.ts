import type { HandleResult } from '@svc/contract/turn.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { AbortReason } from './ticket.ts';
import { toResult } from './to-result.ts';
import type { Turn } from './turn.ts';

/**
 * How a turn ends that was told to: in silence.
 * @throws ServiceError `unavailable` when the service stops: the turn stays open, and is run when the service is back.
 */
export function endAborted(turn: Turn, { reason }: AbortSignal): HandleResult {
  if ((reason as AbortReason | undefined) !== 'shutdown') return toResult(turn, 'aborted', '');
  throw unavailable(
    'The service stopped before the answer was there. The message is kept and answered when the service is back.',
  );
}
