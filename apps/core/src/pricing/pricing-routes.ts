import { type ModelPrice, modelPriceSchema, type PricingReport } from '@svc/contract/cost.ts';
import type { Static } from '@svc/contract/schema.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { changePrice } from './price-file.ts';
import type { Pricing } from './pricing.ts';

type ByModel = { Params: { model: string } };

/**
 * `GET /v2/pricing`: the prices in force. `POST /v2/pricing/reload`: reads the price file again, 422 when it is invalid.
 * `/v2/pricing/models/:model`: the operator's own prices, which are written to that file.
 */
export function mountPricingRoutes(app: App, { pricing }: { pricing: Pricing }): void {
  app.get('/v2/pricing', () => pricing.report());

  app.post('/v2/pricing/reload', () => reload(pricing));

  /** Serialized, so that undoing one change does not undo another. */
  const inTurn = createLane(1);
  const change = (model: string, price: Partial<ModelPrice> | null): Promise<PricingReport> =>
    inTurn(() => changed(pricing, model, price));
  app.put<ByModel & { Body: Static<typeof modelPriceSchema> }>(
    '/v2/pricing/models/:model',
    { schema: { body: modelPriceSchema } },
    ({ params, body }) => change(params.model, body),
  );
  app.delete<ByModel>('/v2/pricing/models/:model', ({ params }) => change(params.model, null));
}

async function reload(pricing: Pricing): Promise<PricingReport> {
  await pricing.reload();
  const fault = pricing.fault();
  if (fault !== null) throw new ServiceError('unprocessable', `Nothing was changed: ${fault}.`);
  return pricing.report();
}

/** A rejected price changes neither the file nor the prices in force. */
async function changed(pricing: Pricing, model: string, price: Partial<ModelPrice> | null): Promise<PricingReport> {
  const { undo } = changePrice(pricing.report().source.file, model, price);
  try {
    return await reload(pricing);
  } catch (error) {
    undo();
    await pricing.reload();
    throw error;
  }
}
