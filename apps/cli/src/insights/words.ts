import { counted } from '@svc/service-kit/words.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { visibleLine } from '../terminal.ts';

/** A text of others on one line of at most `max` characters. */
export function line(text: string | null, max: number): string {
  const flat = (text ?? '')
    .slice(0, max * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return visibleLine(flat.length > max ? `${cutText(flat, max)}…` : flat);
}

/** 1234 as 1.2k: sums are compared, not counted. */
export function amount(value: number): string {
  if (value < 1000) return String(value);
  return value < 1_000_000 ? `${(value / 1000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

export const usd = (value: number): string => (value === 0 ? '-' : value < 0.01 ? '<$0.01' : `$${value.toFixed(2)}`);

/** Columns as wide as their widest cell; those of `right` are set to the right. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths = (rows[0] ?? []).map((_cell, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  const cell = (text: string, i: number) => (right.includes(i) ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0));
  return rows.map((row) => `  ${row.map(cell).join('  ')}`.trimEnd());
}

/** What was called beside turns, and what it is worth where that is known to be something. */
export function besideTurns(calls: number, cost: number, billed?: number): string[] {
  if (calls === 0) return [];
  const ofWhich = billed === undefined ? '' : `, of which billed ${usd(billed)}`;
  return [
    `  Beside turns: ${amount(calls)} side ${calls === 1 ? 'call' : 'calls'}${cost === 0 ? '' : `, ${usd(cost)}${ofWhich}`}.`,
  ];
}

export const unpricedTurns = (count: number): string[] =>
  count === 0
    ? []
    : [`${counted(count, 'turn')} ${count === 1 ? 'has' : 'have'} no known price, and ${count === 1 ? 'is' : 'are'} not in it.`];
