import type { App } from '@svc/service-kit/http/create-app.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Pricing } from './pricing.ts';

/** `GET /v2/pricing`: the prices in force. `POST /v2/pricing/reload`: reads the price file again, 422 when it is faulty. */
export function mountPricingRoutes(app: App, { pricing }: { pricing: Pricing }): void {
  app.get('/v2/pricing', () => pricing.report());

  app.post('/v2/pricing/reload', async () => {
    await pricing.reload();
    const fault = pricing.fault();
    if (fault !== null) throw new ServiceError('unprocessable', `Nothing was changed: ${fault}.`);
    return pricing.report();
  });
}
