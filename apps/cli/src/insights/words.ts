import type { UsageSide } from '@svc/contract/usage.ts';
import { counted } from '@svc/service-kit/words.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { visibleLine } from '../terminal.ts';

/** A foreign text on one line of at most `max` characters. */
export function line(text: string | null, max: number): string {
  const flat = (text ?? '')
    .slice(0, max * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return visibleLine(flat.length > max ? `${cutText(flat, max)}…` : flat);
}

/** 1234 as 1.2k, which is easier to compare. */
export function amount(value: number): string {
  if (value < 1000) return String(value);
  return value < 1_000_000 ? `${(value / 1000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

export const usd = (value: number): string => (value === 0 ? '-' : value < 0.01 ? '<$0.01' : `$${value.toFixed(2)}`);

/** Columns as wide as their widest cell; those in `right` are right-aligned. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths = (rows[0] ?? []).map((_cell, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  const cell = (text: string, i: number) => (right.includes(i) ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0));
  return rows.map((row) => `  ${row.map(cell).join('  ')}`.trimEnd());
}

type SideSums = Pick<UsageSide, 'calls' | 'unpriced_calls' | 'cost_usd' | 'billed_cost_usd'>;
type Money = Pick<UsageSide, 'cost_usd' | 'billed_cost_usd'>;

/** The side calls besides turns, and the total cost of both, if a side call cost anything. */
export function besideTurns(side: readonly SideSums[], turns: Money): string[] {
  const sum = (field: keyof SideSums) => side.reduce((all, row) => all + row[field], 0);
  const [calls, unpriced, cost, billed] = [sum('calls'), sum('unpriced_calls'), sum('cost_usd'), sum('billed_cost_usd')];
  if (calls === 0) return [];
  const together = { cost_usd: cost + turns.cost_usd, billed_cost_usd: billed + turns.billed_cost_usd };
  return [
    `  Beside turns: ${amount(calls)} side ${calls === 1 ? 'call' : 'calls'}${cost === 0 ? '' : `, ${money(cost, billed)}`}.`,
    ...(cost === 0 ? [] : [`  Together: ${money(together.cost_usd, together.billed_cost_usd)}.`]),
    ...withoutPrice(unpriced, 'side call').map((text) => `  ${text}`),
  ];
}

const money = (cost: number, billed: number): string => `${usd(cost)}, of which billed ${billed === 0 ? 'nothing' : usd(billed)}`;

/** The use that has no known price. */
export const withoutPrice = (count: number, what: 'turn' | 'side call'): string[] =>
  count === 0
    ? []
    : [`${counted(count, what)} ${count === 1 ? 'has' : 'have'} no known price, and ${count === 1 ? 'is' : 'are'} not included.`];
