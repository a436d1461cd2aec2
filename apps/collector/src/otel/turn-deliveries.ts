import type { StoredEvent } from '../ingest/parse-event.ts';
import { toDeliverySpan, type SpanPlan } from './to-spans.ts';

/** Of older turns and deliveries nothing is known any more. */
const maxKnown = 5000;

/** Deliveries outlive their turns, so what belongs to a turn's trace is remembered for a while. */
export function createTurnDeliveries() {
  const requestIds = bounded<string>(maxKnown);
  const begun = bounded<number>(maxKnown);
  return {
    /** The span of a delivery that this event settles; null for every other event. */
    add(event: StoredEvent): SpanPlan | null {
      const { turn_id, delivery_id } = event.payload;
      if (typeof turn_id !== 'string') return null;
      if (event.kind !== 'delivery') {
        if (event.request_id !== null) requestIds.set(turn_id, event.request_id);
        return null;
      }
      if (typeof delivery_id !== 'string') return null;
      if (begun.get(delivery_id) === undefined) begun.set(delivery_id, event.ts);
      return toDeliverySpan(event, begun.get(delivery_id) ?? event.ts, requestIds.get(turn_id) ?? null);
    },
  };
}

function bounded<T>(size: number) {
  const values = new Map<string, T>();
  return {
    get: (key: string): T | undefined => values.get(key),
    set(key: string, value: T): void {
      values.set(key, value);
      const [oldest] = values.keys();
      if (values.size > size && oldest !== undefined) values.delete(oldest);
    },
  };
}
