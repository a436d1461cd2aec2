import type { UsageAux, UsageRollup } from '@svc/contract/usage.ts';
import type { Style } from '../terminal.ts';
import { amount, besideTurns, line, table, usd, withoutPrice } from './words.ts';

/** The groups of the sums; sums by person come from another route. */
export const usageGroups = ['channel', 'person', 'day'] as const;
export type UsageBy = (typeof usageGroups)[number];
type UsageGroup = Exclude<UsageBy, 'person'>;
export type UsageAnswer = { usage: UsageRollup[]; aux: UsageAux[]; truncated: boolean };

type Sum = { turns: number; input: number; output: number; cost: number; billed: number; unpriced: number };

/** The use by channel or day, and its total cost. Billed is the part that a vendor charges for. */
export function renderUsage({ usage, aux, truncated }: UsageAnswer, group: UsageGroup, style: Style): string {
  if (usage.length === 0 && aux.length === 0) return 'Nothing was used in this period.';
  const sums = new Map<string, Sum>();
  const all = noSum();
  for (const row of usage) for (const sum of [sumOf(sums, nameOf(row, group)), all]) add(sum, row);
  const shown = [...sums].toSorted(([, a], [, b]) => b.input + b.output - a.input - a.output);
  const head = [group.toUpperCase(), 'TURNS', 'INPUT', 'OUTPUT', 'LIST PRICE', 'BILLED'];
  const rows = shown.map(([name, sum]) => cells(line(name, 60), sum));
  const lines = table([head, ...rows, cells('all', all)], [1, 2, 3, 4, 5]);
  return [
    style.bold(lines[0] ?? ''),
    ...lines.slice(1),
    ...besideTurns(aux, { cost_usd: all.cost, billed_cost_usd: all.billed }),
    ...withoutPrice(all.unpriced, 'turn').map((text) => `  ${style.yellow(text)}`),
    ...(truncated ? [`  ${style.yellow('Older hours were left out. Ask for a shorter time with --since.')}`] : []),
  ].join('\n');
}

const noSum = (): Sum => ({ turns: 0, input: 0, output: 0, cost: 0, billed: 0, unpriced: 0 });

function sumOf(sums: Map<string, Sum>, name: string): Sum {
  const sum = sums.get(name) ?? noSum();
  sums.set(name, sum);
  return sum;
}

function add(sum: Sum, row: UsageRollup): void {
  sum.turns += row.turns;
  sum.input += row.input_tokens + row.cache_read_tokens + row.cache_write_tokens;
  sum.output += row.output_tokens;
  sum.cost += row.cost_usd;
  sum.billed += row.billed_cost_usd;
  sum.unpriced += row.unpriced_turns;
}

function nameOf(row: UsageRollup, group: UsageGroup): string {
  if (group === 'channel') return row.surface;
  return new Date(row.bucket_hour).toLocaleDateString('sv-SE');
}

const cells = (name: string, { turns, input, output, cost, billed }: Sum): string[] => [
  name,
  amount(turns),
  amount(input),
  amount(output),
  usd(cost),
  usd(billed),
];
