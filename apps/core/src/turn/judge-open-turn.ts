import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { JournalRow } from './turn-row.ts';

/** A message that is older than this is not answered any more, but reported: its sender has moved on. */
const maxAgeMs = 60 * 60_000;
/** A turn that was cut off is run again once. If that run is cut off too, the turn may be what stops the service. */
const maxAttempts = 2;

type Open = Pick<JournalRow, 'state' | 'attempts' | 'accepted_at' | 'result'>;

/** What is known of the end of the process before this one. */
export type LastLife = {
  /** It ended by its own fault: out of memory, or a failure of its program. */
  isDeadly: boolean;
  /** How many turns ran in it at its end. */
  ran: number;
};

/** `alone`: run while no other turn is, because it may be what ended the service. */
export type OpenTurnVerdict = { next: 'run' } | { next: 'alone' } | { next: 'give_up'; error: ServiceError };

/** What becomes of a turn that an earlier process left open and that has no reply yet. */
export function judgeOpenTurn(row: Open, { isDeadly, ran }: LastLife, now: number): OpenTurnVerdict {
  if (row.attempts >= maxAttempts) return giveUp('The service stopped twice while it worked on this message.');
  const hasRun = row.state === 'running';
  if (hasRun && isDeadly && ran === 1) {
    return giveUp('The service ran out of memory or failed while it worked on this message, so it is not run again.');
  }
  if (now - row.accepted_at > maxAgeMs) return giveUp('The service was away when this message came.');
  // One that was set aside for this and whose time never came.
  const wasSetAside = row.state === 'queued' && row.attempts > 0;
  return { next: wasSetAside || (hasRun && isDeadly) ? 'alone' : 'run' };
}

export const countRan = (rows: readonly Open[]): number =>
  rows.filter(({ state, result }) => state === 'running' && result === null).length;

const giveUp = (why: string): OpenTurnVerdict => ({
  next: 'give_up',
  error: new ServiceError('turn_interrupted', `${why} If it still matters, send it as a new message.`),
});
