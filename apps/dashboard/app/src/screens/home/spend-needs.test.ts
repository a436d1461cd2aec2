import type { SpendReport } from '@svc/contract/cost.ts';
import { expect, test } from 'vitest';
import { ofSpend } from './spend-needs.ts';

const report = (over: Partial<SpendReport> = {}): SpendReport => ({
  period: 'month',
  since: 0,
  until: Date.now() + 5 * 86_400_000,
  total: { cost_usd: 0, soft_usd: null, hard_usd: null },
  per_principal: { soft_usd: null, hard_usd: null },
  principals: [],
  budgets: [],
  ...over,
});
const person = (key: string | null, cost_usd: number) => ({ principal_id: `p_${key}`, key, cost_usd, turns: 1 });
const shown = (over: Partial<SpendReport>) => ofSpend(report(over)).map(({ status, title }) => `${status} ${title}`);

test('each limit that is reached gives a row: total, people and senders with a budget', () => {
  expect(ofSpend(undefined)).toEqual([]);
  expect(shown({})).toEqual([]);
  expect(
    shown({
      total: { cost_usd: 3, soft_usd: 2, hard_usd: 9 },
      per_principal: { soft_usd: 1, hard_usd: 2 },
      principals: [person('anna', 2), person('ben', 1), person('eve', 0.5), person(null, 4)],
      budgets: [
        { surface: 'compat', value: 'ci', month_usd: 1, spent_usd: 1 },
        { surface: 'compat', value: 'shut out', month_usd: 0, spent_usd: 0 },
        { surface: 'compat', value: 'fine', month_usd: 1, spent_usd: 0.9 },
      ],
    }),
  ).toEqual([
    'warn Spending is above its warning',
    'bad anna has reached a spending limit: their turns are refused',
    'warn ben is above the warning for one person',
    'bad Unknown senders has reached a spending limit: their turns are refused',
    'bad The budget of ci (compat) is used up: its turns are refused',
  ]);
});

test('many small amounts add up to the limit that rejects turns', () => {
  const cost_usd = Array.from({ length: 10 }, () => 0.1).reduce((sum, one) => sum + one, 0);
  expect(cost_usd).toBeLessThan(1);
  expect(shown({ total: { cost_usd, soft_usd: null, hard_usd: 1 } })).toEqual([
    'bad The spending limit is reached: turns are refused',
  ]);
});
