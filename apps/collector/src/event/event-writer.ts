import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';

const insertEvent = `
INSERT INTO event (id, ts, kind, surface, session, instance_id, identity, principal, text, payload, cost_usd,
  billed_cost_usd, billed, injected, request_id, received_at, claimed_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING`;

/** Stores an event, inside the caller's transaction; false when one of its id is there already. */
export function createEventWriter(db: SqliteDatabase): (event: StoredEvent) => boolean {
  const insert = db.raw.prepare(insertEvent);
  return (event) => {
    const { changes } = insert.run(
      event.id,
      event.ts,
      event.kind,
      event.surface,
      event.session,
      event.instance_id,
      event.identity,
      event.principal,
      event.text,
      event.payloadText,
      event.cost_usd,
      event.billed_cost_usd,
      event.billed ? 1 : 0,
      event.injected ? 1 : 0,
      event.request_id,
      event.received_at,
      event.claimed_at,
    );
    return changes !== 0;
  };
}
