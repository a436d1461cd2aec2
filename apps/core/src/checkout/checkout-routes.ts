import { checkoutFields, type CheckoutList } from '@svc/contract/checkout.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { Checkouts } from './checkouts.ts';

const body = { type: 'object', required: ['url'], additionalProperties: false, properties: checkoutFields } as const;
const params = { type: 'object', required: ['id'], properties: { id: { type: 'string', maxLength: 128 } } } as const;

/** Copies of repositories. Only the operator reaches these routes; a connector asks over its link. */
export function mountCheckoutRoutes(app: App, { checkouts }: { checkouts: Checkouts }): void {
  app.post('/v2/checkouts', { schema: { body } }, ({ body: wanted }) => checkouts.obtain(wanted, null));
  app.get('/v2/checkouts', (): CheckoutList => ({ checkouts: checkouts.list() }));
  app.get('/v2/checkouts/:id', { schema: { params } }, ({ params: { id } }) => checkouts.get(id));
  app.delete('/v2/checkouts/:id', { schema: { params } }, async ({ params: { id } }) => {
    await checkouts.remove(id);
    return { ok: true };
  });
}
