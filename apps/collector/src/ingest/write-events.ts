import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { createEventWriter } from '../event/event-writer.ts';
import { createSessionWriter } from '../session/session-writer.ts';
import { createUsageWriter } from '../usage/usage-writer.ts';
import type { StoredEvent } from './parse-event.ts';

/**
 * Stores events and what follows from them in one transaction, within the call. An event that is there already adds to
 * nothing, so sums are right however often a producer sends it.
 */
export function createEventsWriter(db: SqliteDatabase): (events: StoredEvent[]) => void {
  const store = createEventWriter(db);
  const newSessionSums = createSessionWriter(db);
  const newUsageSums = createUsageWriter(db);
  return (events) => {
    const sums = [newSessionSums(), newUsageSums()];
    db.raw.exec('BEGIN IMMEDIATE');
    try {
      for (const event of events) if (store(event)) for (const sum of sums) sum.add(event);
      for (const sum of sums) sum.write();
      db.raw.exec('COMMIT');
    } catch (error) {
      if (db.raw.isTransaction) db.raw.exec('ROLLBACK');
      throw error;
    }
  };
}
