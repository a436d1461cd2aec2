import { language } from '@svc/chat-ui/language/language.ts';

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const dayAndClock = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(language(), { numeric: 'auto' });
const numbers = new Intl.NumberFormat();
const usd = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const smallUsd = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumSignificantDigits: 2 });

/** Times are epoch ms. */
export const clockTime = (at: number): string => clock.format(at);
export const shortTime = (at: number): string =>
  new Date(at).toDateString() === new Date().toDateString() ? clock.format(at) : dayAndClock.format(at);
export const fullTime = (at: number): string => whole.format(at);

const units: [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** "3 minutes ago", "in 2 days". */
export function relativeTime(at: number): string {
  const now = Date.now();
  const [unit, ms] = units.find(([, size]) => Math.abs(at - now) >= size) ?? ['second', 1000];
  return relative.format(Math.round((at - now) / ms), unit);
}

export const count = (value: number): string => numbers.format(value);
/** A price with two decimals; more below a cent. */
export const money = (value: number): string => (value !== 0 && Math.abs(value) < 0.01 ? smallUsd : usd).format(value);

const sizes = ['B', 'KB', 'MB', 'GB', 'TB'];
export function bytes(value: number): string {
  const step = value < 1 ? 0 : Math.min(Math.floor(Math.log2(value) / 10), sizes.length - 1);
  return `${new Intl.NumberFormat(undefined, { maximumFractionDigits: step === 0 ? 0 : 1 }).format(value / 2 ** (10 * step))} ${sizes[step]}`;
}
