import { deliveryStates, type DeliveryState } from '@svc/contract/delivery.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { valueInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { badRequest, notFound } from '@svc/service-kit/service-error.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { Outbox } from './outbox.ts';

type Deps = { deliveries: DeliveryStore; outbox: Outbox; knownSecrets: KnownSecrets };
type Query = { state?: string; conversation_key?: string; limit?: string; before?: string };
type IdParams = { id: string };

/**
 * `GET /v2/deliveries`: the replies that could not be given to their caller, newest first, with their state.
 * `POST /v2/deliveries/:id/retry` tries one now, `POST /v2/deliveries/:id/delivered` reports that the reply reached its person after all,
 * `DELETE /v2/deliveries/:id` takes a settled one off the list.
 */
export function mountDeliveryRoutes(app: App, { deliveries, outbox, knownSecrets }: Deps): void {
  app.get<{ Querystring: Query }>('/v2/deliveries', async ({ query }) => {
    const limit = queryInteger('limit', query.limit, 100, 1, 1000);
    const before = queryInteger('before', query.before, Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER);
    const { state = null } = query;
    if (!isState(state)) throw badRequest(`"state" must be one of ${deliveryStates.join(', ')}.`);
    const filter = { state, conversationKey: query.conversation_key ?? null };
    const page = await deliveries.list(filter, before, limit);
    const redactor = knownSecrets.redactor();
    const shown = await valueInSlices(
      redactor,
      page.deliveries.map(({ turn_seq: _seq, message_id: _message, kind: _kind, ...delivery }) => delivery),
    );
    return { deliveries: shown, next: page.next, ...outbox.counts() };
  });

  app.post<{ Params: IdParams }>('/v2/deliveries/:id/retry', async ({ params }) => {
    if (!(await outbox.retry(params.id))) throw notFound('delivery that can be tried again,', params.id);
    return { ok: true };
  });

  app.post<{ Params: IdParams }>('/v2/deliveries/:id/delivered', async ({ params }) => {
    if (!(await outbox.confirm(params.id))) throw notFound('delivery that failed,', params.id);
    return { ok: true };
  });

  app.delete<{ Params: IdParams }>('/v2/deliveries/:id', async ({ params }) => {
    if (!(await outbox.remove(params.id))) throw notFound('settled delivery', params.id);
    return { ok: true };
  });
}

const isState = (state: string | null): state is DeliveryState | null =>
  state === null || (deliveryStates as readonly string[]).includes(state);
