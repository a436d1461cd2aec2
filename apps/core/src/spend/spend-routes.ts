import { channelPattern } from '@svc/contract/envelope.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { Spend } from './spend.ts';

const budgetSchema = {
  type: 'object',
  required: ['surface', 'value', 'month_usd'],
  properties: {
    surface: { type: 'string', pattern: channelPattern },
    value: { type: 'string', minLength: 1, maxLength: 256 },
    month_usd: { type: ['number', 'null'], minimum: 0, maximum: 1e9 },
  },
} as const;

/** What the running period has cost so far, who spent it, and the limits; what single senders may spend. */
export function mountSpendRoutes(app: App, { spend }: { spend: Spend }): void {
  app.get('/v2/spend', () => spend.report());

  app.put('/v2/spend/budget', { schema: { body: budgetSchema } }, async ({ body }) => {
    await spend.setBudget(body.surface, body.value, body.month_usd);
    return { ok: true, budgets: spend.report().budgets };
  });
}
