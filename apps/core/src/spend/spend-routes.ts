import { budgetSchema } from '@svc/contract/cost.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { requireSecondFactor } from '@svc/service-kit/http/second-factor.ts';
import type { Spend } from './spend.ts';

/** The costs of the current period, who spent them, the limits, and the budgets of single senders. */
export function mountSpendRoutes(app: App, { spend }: { spend: Spend }): void {
  app.get('/v2/spend', () => spend.report());

  app.put('/v2/spend/budget', { schema: { body: budgetSchema } }, async (request) => {
    const { body } = request;
    const before = spend.budgetOf({ channel: body.surface, sender: { raw_id: body.value } });
    if (isMore(body.month_usd, before)) requireSecondFactor(request);
    await spend.setBudget(body.surface, body.value, body.month_usd);
    return { ok: true, budgets: spend.report().budgets };
  });
}

/** Whether a new budget lets a sender spend more than the old one; null means no budget. */
const isMore = (next: number | null, before: number | null): boolean => before !== null && (next === null || next > before);
