import { setImmediate as nextTick } from 'node:timers/promises';
import { eventFields, type TelemetryEvent } from '@svc/contract/event.ts';
import type { Notification } from '@svc/contract/insights.ts';
import type { Database, Value } from '@svc/store/database.ts';
import type { BatchDatabase } from '@svc/store/open-sqlite.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';

export type EventFilter = {
  surface: string | null;
  identity: string | null;
  session: string | null;
  kind: string | null;
  /** Epoch ms; events at or after it. */
  since: number;
  before: EventCursor;
  limit: number;
};

/** A position in the list of events: those before it are older, or as old and stored earlier. */
export type EventCursor = { ts: number; seq: number };

/** `next_before` is the `before` of the next page; null if there is none. */
export type EventPage = { events: TelemetryEvent[]; next_before: string | null };

type EventRow = Omit<TelemetryEvent, 'payload' | 'billed' | 'injected' | 'received_at'> &
  EventCursor & { payload: string; billed: number; injected: number; received_at: number | null; claimed_at: number | null };

/** Limits of one page, for filters that hardly ever match and for events of the maximum size. */
const sliceRows = 250;
const maxScannedRows = 20_000;
const maxPageLength = 4 * 1024 * 1024;

const slices = {
  session: selectSlice('session = ?'),
  identity: selectSlice('identity = ?'),
  surface: selectSlice('surface = ?'),
  denied: selectSlice(`kind = 'denied' AND ? = 'denied'`),
  none: selectSlice('? IS NULL'),
};

/**
 * Events, newest first. One filter is answered by its index; the others are applied to its result. A page ends early when
 * that takes too long or grows too large; `next_before` is then where to continue.
 */
export async function listEvents(db: Pick<Database, 'all'>, filter: EventFilter): Promise<EventPage> {
  const { sql, value } = narrowest(filter);
  const events: TelemetryEvent[] = [];
  let { before } = filter;
  let length = 0;
  let last: string | null = null;
  for (let scanned = 0, size = Math.min(sliceRows, filter.limit); scanned < maxScannedRows; size = sliceRows) {
    const rows = await db.all<EventRow>(sql, value, filter.since, before.ts, before.seq, size);
    for (const row of rows) {
      before = row;
      if (!matches(row, filter)) continue;
      events.push(toEvent(row));
      length += (row.text?.length ?? 0) + row.payload.length;
      if (events.length === filter.limit || length > maxPageLength) return { events, next_before: row.id };
    }
    if (rows.length < size) return { events, next_before: null };
    scanned += rows.length;
    last = rows.at(-1)?.id ?? null;
    await nextTick();
  }
  return { events, next_before: last };
}

/** A stored event that was pushed to people; its payload is JSON. */
export type NotificationRow = Omit<Notification, 'payload'> & { seq: number; payload: string };

// The condition must be that of the index, word for word.
const selectNotifications = `SELECT seq, id, ts, kind, surface, session, instance_id, text, payload FROM event
WHERE kind IN ('notification', 'delivery') AND (ts, seq) < (?, ?) ORDER BY ts DESC, seq DESC LIMIT ?`;

/** Events that were pushed to people before a position, newest first. */
export const listNotifications = (
  db: Pick<Database, 'all'>,
  { ts, seq }: EventCursor,
  limit: number,
): Promise<NotificationRow[]> => db.all<NotificationRow>(selectNotifications, ts, seq, limit);

/** The position of a stored event, or null if there is none with this id. */
export const findCursor = async (db: Pick<Database, 'get'>, id: string): Promise<EventCursor | null> =>
  (await db.get<EventCursor>('SELECT ts, seq FROM event WHERE id = ?', id)) ?? null;

function selectSlice(condition: string): string {
  return `SELECT * FROM event WHERE ${condition} AND ts >= ? AND (ts, seq) < (?, ?) ORDER BY ts DESC, seq DESC LIMIT ?`;
}

function narrowest({ session, identity, surface, kind }: EventFilter): { sql: string; value: string | null } {
  if (session !== null) return { sql: slices.session, value: session };
  if (identity !== null) return { sql: slices.identity, value: identity };
  // Rare but often requested, so it has its own index.
  if (kind === 'denied') return { sql: slices.denied, value: kind };
  if (surface !== null) return { sql: slices.surface, value: surface };
  return { sql: slices.none, value: null };
}

const matches = (row: EventRow, { surface, identity, kind }: EventFilter): boolean =>
  (kind === null || row.kind === kind) &&
  (surface === null || row.surface === surface) &&
  (identity === null || row.identity === identity);

function toEvent({ seq: _seq, claimed_at, received_at, ...row }: EventRow): TelemetryEvent {
  return {
    ...row,
    ts: claimed_at ?? row.ts,
    ...(received_at !== null && { received_at }),
    payload: JSON.parse(row.payload) as Record<string, unknown>,
    billed: row.billed !== 0,
    injected: row.injected !== 0,
  };
}

/** A column for each field of an event, and those that the collector adds; `claimed_at` is the time of an event that is impossible. */
const eventColumns = [...(Object.keys(eventFields) as (keyof typeof eventFields)[]), 'received_at', 'claimed_at'] as const;

const insertEvent = `INSERT INTO event (${eventColumns.join(', ')}) VALUES (${eventColumns.map(() => '?').join(', ')})
ON CONFLICT (id) DO NOTHING`;

/** Stores an event, inside the caller's transaction; false if one with its id is stored already. */
export function createEventWriter(db: BatchDatabase): (event: StoredEvent) => boolean {
  const insert = db.statement(insertEvent);
  return (event) => insert.run(...eventColumns.map((name) => columnValue(event, name))).changes !== 0;
}

function columnValue(event: StoredEvent, name: (typeof eventColumns)[number]): Value {
  if (name === 'payload') return event.payloadText;
  const value = event[name];
  return typeof value === 'boolean' ? Number(value) : value;
}

/** The position for `before`: a time, or that of an event, because several can share a millisecond; without a value the end. Throws for anything else. */
export async function parseBefore(db: Pick<Database, 'get'>, value: string | undefined): Promise<EventCursor> {
  if (value === undefined) return { ts: Number.MAX_SAFE_INTEGER, seq: 0 };
  if (/^\d+$/.test(value)) return { ts: queryInteger('before', value, 0, 0, Number.MAX_SAFE_INTEGER), seq: 0 };
  const cursor = await findCursor(db, value);
  if (cursor === null) throw badRequest('The query parameter before must be epoch ms or the id of a stored event.');
  return cursor;
}
