import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { JournalRow } from './turn-row.ts';

/** A message older than this is reported instead of answered: its sender has moved on. */
const maxAgeMs = 60 * 60_000;
/** An interrupted turn is run again once. If that run is interrupted too, the turn itself may be what stops the service. */
const maxAttempts = 2;

type Open = Pick<JournalRow, 'state' | 'attempts' | 'accepted_at' | 'result'>;

/** How the previous process ended. */
export type LastLife = {
  /** It ended by its own fault: out of memory, or a failure of its program. */
  isDeadly: boolean;
  /** How many turns ran in it at its end. */
  ran: number;
};

/** `alone`: run it while no other turn runs, because it may have ended the service. */
export type OpenTurnVerdict = { next: 'run' } | { next: 'alone' } | { next: 'give_up'; error: ServiceError };

/** Decides about a turn without a reply that an earlier process left open. */
export function judgeOpenTurn(row: Open, { isDeadly, ran }: LastLife, now: number): OpenTurnVerdict {
  if (row.attempts >= maxAttempts) return giveUp('The service stopped twice while it worked on this message.');
  const hasRun = row.state === 'running';
  if (hasRun && isDeadly && ran === 1) {
    return giveUp('The service ran out of memory or failed while it worked on this message, so it is not run again.');
  }
  if (now - row.accepted_at > maxAgeMs) {
    const when = row.attempts > 0 ? 'while it worked on this message' : 'before it could answer this message';
    return giveUp(`The service stopped ${when}, which is more than an hour old by now.`);
  }
  // It was already set aside to run alone, but never got to run.
  const wasSetAside = row.state === 'queued' && row.attempts > 0;
  return { next: wasSetAside || (hasRun && isDeadly) ? 'alone' : 'run' };
}

export const countRan = (rows: readonly Open[]): number =>
  rows.filter(({ state, result }) => state === 'running' && result === null).length;

const giveUp = (why: string): OpenTurnVerdict => ({
  next: 'give_up',
  error: new ServiceError('turn_interrupted', `${why} If it still matters, send it as a new message.`),
});
