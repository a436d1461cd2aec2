import { dayOf, type SpendPeriod } from './spend-period.ts';

/**
 * The sum that reached a limit. `key` is null for the total and for senders without a principal; for a sender it is their name on the
 * channel that `surface` names.
 */
export type Overspend = {
  subject: 'total' | 'principal' | 'sender';
  level: 'soft' | 'hard';
  key: string | null;
  surface: string | null;
  spent: number;
  limit: number;
  period: SpendPeriod;
};

/** The message for a refused sender. Amounts are for private surfaces only. */
export function refusalText({ subject, spent, limit, period }: Overspend, withAmounts: boolean): string {
  const when = period.name === 'day' ? 'today' : 'this month';
  if (!withAmounts) {
    const next = period.name === 'day' ? 'tomorrow' : 'next month';
    return `I cannot answer any more ${when}, because a spending limit is reached. Please try again ${next}.`;
  }
  const who = subject === 'total' ? 'This assistant has' : 'You have';
  return `${who} used up what may be spent ${when}: ${usd(spent)} of ${usd(limit)}, at list prices. It starts again ${renewal(period)}.`;
}

/** One line for the operator. */
export function warningText(over: Overspend): string {
  const { subject, level, key, surface, spent, limit, period } = over;
  const name = key ?? 'Unknown senders';
  const who = subject === 'total' ? 'All together' : surface === null ? name : `${name} (${surface})`;
  const when = period.name === 'day' ? 'today' : 'this month';
  const past = level === 'soft' ? `past the soft limit of ${usd(limit)}` : `the hard limit is ${usd(limit)}`;
  const effect = level === 'soft' ? '' : `; their turns are refused until it starts again ${renewal(period)}`;
  return `${who} spent ${usd(spent)} ${when}, ${past}${effect}.`;
}

const renewal = ({ name, until }: SpendPeriod) => (name === 'day' ? `at midnight (${dayOf(until)})` : `on ${dayOf(until)}`);

const usd = (amount: number) => `$${amount.toFixed(amount < 0.1 ? 4 : 2)}`;
