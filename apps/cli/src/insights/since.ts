import { InvalidArgumentError } from 'commander';

const units = { m: 60_000, h: 3_600_000, d: 24 * 3_600_000, w: 7 * 24 * 3_600_000 };

/** A time before now (`30m`, `24h`, `7d`) or a date, as epoch ms. Throws for anything else. */
export function since(text: string, now = Date.now()): number {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (unit !== undefined) return Math.max(0, now - Number(count) * units[unit as keyof typeof units]);
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time) || time < 0) throw new InvalidArgumentError('It takes a time such as 30m, 24h, 7d or 2026-01-31.');
  return time;
}
