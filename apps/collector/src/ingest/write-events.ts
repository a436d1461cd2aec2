import type { BatchDatabase } from '@svc/store/open-sqlite.ts';
import { createEventWriter } from '../event/event-store.ts';
import { createTouchWriter } from '../map/touch-store.ts';
import { createSessionWriter } from '../session/session-store.ts';
import { createTitleWriter } from '../session/title-writer.ts';
import { createUsageWriter } from '../usage/usage-store.ts';
import type { StoredEvent } from './parse-event.ts';

/**
 * Stores events and the sums derived from them in one transaction, synchronously. An event that is stored already changes
 * nothing, so sums are right however often a producer sends it. Returns the new events.
 */
export function createEventsWriter(db: BatchDatabase): (events: StoredEvent[]) => StoredEvent[] {
  const store = createEventWriter(db);
  const newSessionSums = createSessionWriter(db);
  const newTitles = createTitleWriter(db);
  const newUsageSums = createUsageWriter(db);
  const newTouchSums = createTouchWriter(db);
  return (events) =>
    db.batch(() => {
      const sums = [newSessionSums(), newTitles(), newUsageSums(), newTouchSums()];
      const fresh = events.filter(store);
      for (const event of fresh) for (const sum of sums) sum.add(event);
      for (const sum of sums) sum.write();
      return fresh;
    });
}
