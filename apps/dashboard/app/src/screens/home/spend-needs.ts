import { t } from '@svc/chat-ui/language/t.ts';
import { reachedLimit, type SpendLimits, type SpendReport } from '@svc/contract/cost.ts';
import { money, relativeTime } from '../../parts/format.ts';
import type { Need } from './need.ts';

const maxRows = 5;

/** Every limit that is reached: the total, those of people, and the budgets of senders. The first few of each. */
export function ofSpend(report: SpendReport | undefined): Need[] {
  if (report === undefined) return [];
  const { total, per_principal: each, principals, budgets, period } = report;
  const when = relativeTime(report.until);
  const words = (cost: number, limit: number) => {
    const values = { cost: money(cost), limit: money(limit), when };
    return period === 'day'
      ? t('{cost} of {limit} this day. It resets {when}.', values)
      : t('{cost} of {limit} this month. It resets {when}.', values);
  };
  const all = reachedBy(total.cost_usd, total).map(({ limit, isOver }): Need => ({
    key: 'spend',
    status: isOver ? 'bad' : 'warn',
    title: isOver ? t('The spending limit is reached: turns are refused') : t('Spending is above its warning'),
    words: words(total.cost_usd, limit),
    remedy: null,
  }));
  const people = principals.flatMap(({ principal_id: id, key, cost_usd: cost }) =>
    reachedBy(cost, each).map(({ limit, isOver }): Need => {
      const name = key ?? t('Unknown senders');
      return {
        key: `spend of ${id}`,
        status: isOver ? 'bad' : 'warn',
        title: isOver
          ? t('{name} has reached a spending limit: their turns are refused', { name })
          : t('{name} is above the warning for one person', { name }),
        words: words(cost, limit),
        remedy: null,
      };
    }),
  );
  const senders = budgets
    .filter(({ month_usd: limit }) => limit > 0)
    .flatMap(({ surface, value, month_usd, spent_usd }) =>
      reachedBy(spent_usd, { soft_usd: null, hard_usd: month_usd }).map(({ limit }): Need => ({
        key: `budget of ${surface} ${value}`,
        status: 'bad',
        title: t('The budget of {name} is used up: its turns are refused', { name: `${value} (${surface})` }),
        words: t('{cost} of {limit} this month.', { cost: money(spent_usd), limit: money(limit) }),
        remedy: { kind: 'link', words: t('Go to the settings'), to: '/settings/limits' },
      })),
    );
  return [...all, ...people.slice(0, maxRows), ...senders.slice(0, maxRows)];
}

/** The higher of the limits that a sum has reached, as a list of at most one. */
function reachedBy(cost: number, limits: SpendLimits) {
  const reached = reachedLimit(limits, cost);
  return reached === null ? [] : [{ limit: reached.limit, isOver: reached.level === 'hard' }];
}
