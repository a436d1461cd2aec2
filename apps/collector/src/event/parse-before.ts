import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import { findCursor, type EventCursor } from './event-store.ts';

/** The end of time, a time, or an event's place: several events can share a millisecond. Throws for anything else. */
export async function parseBefore(db: Pick<Database, 'get'>, value: string | undefined): Promise<EventCursor> {
  if (value === undefined) return { ts: Number.MAX_SAFE_INTEGER, seq: 0 };
  if (/^\d+$/.test(value)) return { ts: queryInteger('before', value, 0, 0, Number.MAX_SAFE_INTEGER), seq: 0 };
  const cursor = await findCursor(db, value);
  if (cursor === null) throw badRequest('The query parameter before takes epoch ms or the id of a stored event.');
  return cursor;
}
