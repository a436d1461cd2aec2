import type { Delivery, DeliveryCounts, DeliveryPage, DeliveryState } from '@svc/contract/delivery.ts';
import { askCore, type ServiceAnswer } from '../service-client.ts';

/** `isWhole`: no older deliveries were left out. */
export type DeliveryList = DeliveryCounts & { deliveries: Delivery[]; isWhole: boolean };

const pageSize = 200;

/** Deliveries in these states (null: in any), newest first; at most `limit` of each. */
export async function readDeliveries(
  coreUrl: string,
  states: readonly (DeliveryState | null)[],
  limit = Number.POSITIVE_INFINITY,
): Promise<ServiceAnswer<DeliveryList>> {
  const list: DeliveryList = { deliveries: [], isWhole: true, pending: 0, failed: 0 };
  for (const state of states) {
    const answer = await readState(coreUrl, state, limit);
    if (!answer.ok) return answer;
    const { deliveries, isWhole, pending, failed } = answer.body;
    list.deliveries.push(...deliveries);
    list.isWhole &&= isWhole;
    Object.assign(list, { pending, failed });
  }
  list.deliveries.sort((a, b) => b.created_at - a.created_at);
  return { ok: true, body: list };
}

async function readState(coreUrl: string, state: DeliveryState | null, limit: number): Promise<ServiceAnswer<DeliveryList>> {
  const deliveries: Delivery[] = [];
  for (let before: number | null = null; ;) {
    const query = new URLSearchParams({ limit: String(Math.min(pageSize, limit - deliveries.length)) });
    if (state !== null) query.set('state', state);
    if (before !== null) query.set('before', String(before));
    const answer: ServiceAnswer<DeliveryPage> = await askCore<DeliveryPage>(`${coreUrl}/v2/deliveries?${query.toString()}`);
    if (!answer.ok) return answer;
    const { next, pending, failed } = answer.body;
    deliveries.push(...answer.body.deliveries);
    if (next === null || deliveries.length >= limit) {
      return { ok: true, body: { deliveries, isWhole: next === null, pending, failed } };
    }
    before = next;
  }
}

export type DeliveryAction = 'retry' | 'dismiss';

/** The outcome for each delivery. `skipped` ones have no target, so they were not retried. */
export type Changed = { ok: boolean; done: string[]; refused: { id: string; message: string }[]; skipped: string[] };

/** Retries or dismisses deliveries, one after the other. A refusal of the core is a value. */
export async function changeDeliveries(coreUrl: string, action: DeliveryAction, ids: readonly string[]): Promise<Changed> {
  const changed: Changed = { ok: true, done: [], refused: [], skipped: [] };
  for (const id of ids) {
    const url = `${coreUrl}/v2/deliveries/${encodeURIComponent(id)}`;
    const answer = await (action === 'retry' ? askCore(`${url}/retry`, { method: 'POST' }) : askCore(url, { method: 'DELETE' }));
    if (answer.ok) changed.done.push(id);
    else changed.refused.push({ id, message: answer.body.message });
  }
  changed.ok = changed.refused.length === 0;
  return changed;
}
