import type { ModelPrice, PricingReport, SpendLimits, SpendReport } from '@svc/contract/cost.ts';
import { line, table } from '../insights/words.ts';
import type { Style } from '../terminal.ts';

const inUsd = (amount: number): string => `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`;
const day = (at: number): string => new Date(at).toLocaleDateString('sv');

/** The spending of the current period, for a person. */
export function renderSpend(
  { period, since, until, total, per_principal, principals, budgets }: SpendReport,
  style: Style,
): string {
  const people = principals.map(({ key, cost_usd, turns }) => [
    line(key ?? 'unknown senders', 60),
    inUsd(cost_usd),
    String(turns),
  ]);
  const keys = budgets.map(({ surface, value, month_usd, spent_usd }) => [
    line(`${surface} ${value}`, 60),
    inUsd(spent_usd),
    inUsd(month_usd),
  ]);
  return [
    `${style.bold(inUsd(total.cost_usd))} this ${period}, from ${day(since)} on; a new ${period} begins on ${day(until)}.`,
    `  All together: ${limitWords(total)}`,
    `  Each person:  ${limitWords(per_principal)}`,
    ...(people.length === 0 ? [] : ['', ...headed(['PERSON', 'SPENT', 'TURNS'], people, style)]),
    ...(keys.length === 0 ? [] : ['', ...headed(['SENDER', 'THIS MONTH', 'BUDGET'], keys, style)]),
    '',
    style.dim('Amounts are at list prices, billed or not. Limits are settings: docs/running.md, "Spending limits".'),
  ].join('\n');
}

function headed(head: string[], rows: string[][], style: Style): string[] {
  const [first = '', ...others] = table([head, ...rows], [1, 2, 3, 4, 5]);
  return [style.bold(first), ...others];
}

function limitWords({ soft_usd, hard_usd }: SpendLimits): string {
  if (soft_usd === null && hard_usd === null) return 'no limit';
  const parts = [
    ...(soft_usd === null ? [] : [`a warning at ${inUsd(soft_usd)}`]),
    ...(hard_usd === null ? [] : [`refused from ${inUsd(hard_usd)} on`]),
  ];
  return parts.join(', ');
}

/** The prices whose names begin with a prefix, for a person; all of them without one. */
export function renderPrices(report: PricingReport, name: string | null, style: Style): string {
  const { source, unpriced } = report;
  const begins = (model: string) => name === null || model.startsWith(name.toLowerCase()) || name.toLowerCase().startsWith(model);
  const own = new Set(source.from_file.models);
  const rows = Object.entries(report.models)
    .filter(([model]) => begins(model))
    .map(([model, price]) => [line(model, 60), ...amounts(price), own.has(model) ? 'yours' : '']);
  const without = unpriced.map(
    ({ engine_id, model, runs }) => `  ${line(model ?? engine_id, 60)} (${runs} ${runs === 1 ? 'run' : 'runs'})`,
  );
  return [
    ...(rows.length === 0
      ? ['No price is known for that.']
      : headed(['USD FOR 1M TOKENS', 'IN', 'OUT', 'CACHE READ', 'CACHE WRITE', 'CACHE WRITE 1H'], rows, style)),
    ...(without.length === 0 ? [] : ['', style.yellow('Used without a price, so they count as zero:'), ...without]),
    ...(source.fault === null ? [] : ['', style.red(`The price file is refused: ${source.fault}.`)]),
    '',
    style.dim(`Built in as of ${source.built_in}; yours come from ${source.file}.`),
  ].join('\n');
}

const amounts = ({ in: read, out, cache_read, cache_write, cache_write_1h }: ModelPrice): string[] =>
  [read, out, cache_read, cache_write, cache_write_1h].map((price) => (price === undefined ? '-' : String(price)));
