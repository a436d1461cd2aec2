import { InvalidArgumentError } from 'commander';

const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const msOf = (unit: string): number => units[unit] ?? 0;

/**
 * The end of a grant as typed: a time from now (`30m`, `12h`, `7d`, `2w`), a day (until its end in local time), or a day with a time.
 * Epoch ms; null when it is none of these.
 */
export function parseUntil(text: string, now: number): number | null {
  const [, count, unit] = /^(\d{1,4})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return now + Number(count) * msOf(unit);
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) {
    const at = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
    return Number.isNaN(at) ? null : at;
  }
  const first = new Date(Number(year), Number(month) - 1, Number(day));
  if (first.getMonth() !== Number(month) - 1 || first.getDate() !== Number(day)) return null;
  return new Date(first.getFullYear(), first.getMonth(), first.getDate() + 1).getTime();
}

/** The same as the parser of an option. Throws for any other text. */
export function until(text: string): number {
  const at = parseUntil(text, Date.now());
  if (at === null)
    throw new InvalidArgumentError('It takes a day such as 2026-12-31, a day with a time, or a time from now such as 7d.');
  return at;
}

/** A time before now (`30m`, `24h`, `7d`) or a date (from local midnight), as epoch ms. Throws for any other text. */
export function since(text: string, now = Date.now()): number {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (unit !== undefined) return Math.max(0, now - Number(count) * msOf(unit));
  // JavaScript reads a date without a time as UTC.
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text;
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(time) || time < 0) throw new InvalidArgumentError('It takes a time such as 30m, 24h, 7d or 2026-01-31.');
  return time;
}
