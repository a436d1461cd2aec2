import type { SpendPeriodName } from '@svc/contract/spend-period.ts';

/** A period of the host's local calendar, epoch ms; `until` is the first moment after it. */
export type SpendPeriod = { name: SpendPeriodName; since: number; until: number };

export function periodAt(name: SpendPeriodName, now: number): SpendPeriod {
  const date = new Date(now);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  return name === 'day'
    ? { name, since: Number(new Date(year, month, day)), until: Number(new Date(year, month, day + 1)) }
    : { name, since: Number(new Date(year, month, 1)), until: Number(new Date(year, month + 1, 1)) };
}

export const holds = ({ since, until }: SpendPeriod, now: number): boolean => now >= since && now < until;

/** `2026-11-21`, in local time. Days sort like their texts. */
export function dayOf(at: number): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
