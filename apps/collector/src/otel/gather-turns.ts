import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { addEvent, newRecord, type TurnRecord } from './turn-record.ts';
import { toDeliverySpan, type SpanPlan } from './to-spans.ts';

export type TurnGatherer = {
  add(event: StoredEvent): void;
  /** Hands out all that is known, finished or not. */
  flush(): void;
  close(): void;
};

/** More turns than this are not waited for; the oldest goes out as it is. */
const maxOpen = 2000;
const sweepMs = 1000;
/** A short turn has no event for its end. What comes with its reply comes at once. */
const quietMs = 2000;
/** Longer than a turn may take. */
const lostMs = 3 * 3_600_000;

/** Puts the events of each turn together, and hands it out when it has ended. Events of no turn are left alone. */
export function gatherTurns(clock: Clock, done: (record: TurnRecord) => void): TurnGatherer {
  const open = new Map<string, { record: TurnRecord; seenAt: number }>();
  let cancel: (() => void) | null = null;

  const end = (turnId: string, record: TurnRecord) => {
    open.delete(turnId);
    done(record);
  };
  const sweep = () => {
    const now = clock.elapsed();
    for (const [turnId, { record, seenAt }] of open) if (isOver(record, now - seenAt)) end(turnId, record);
    if (open.size > 0) return;
    cancel?.();
    cancel = null;
  };
  return {
    add(event) {
      const turnId = event.payload['turn_id'];
      if (typeof turnId !== 'string' || turnId === '' || !tellsOfTurn(event)) return;
      const known = open.get(turnId);
      // What comes after the end, or has no beginning, makes no turn of its own.
      if (known === undefined && !beginsTurn(event)) return;
      const { record } = known ?? { record: newRecord(turnId, event) };
      addEvent(record, event);
      open.set(turnId, { record, seenAt: clock.elapsed() });
      cancel ??= clock.every(sweepMs, sweep);
      const [oldest] = open.size > maxOpen ? open : [];
      if (oldest !== undefined) end(oldest[0], oldest[1].record);
    },
    flush() {
      for (const [turnId, { record }] of open) end(turnId, record);
    },
    close() {
      cancel?.();
      cancel = null;
    },
  };
}

const beginners: ReadonlySet<string> = new Set(['inbound', 'queued', 'turn', 'denied']);

const beginsTurn = ({ kind, payload }: StoredEvent): boolean => beginners.has(kind) && payload['what'] !== 'ended';

/** A message that is only noted, or is a chat command, is no turn, and a delivery outlives its own. */
const tellsOfTurn = ({ kind, payload }: StoredEvent): boolean =>
  kind !== 'delivery' && payload['observed'] !== true && payload['command'] !== true;

const isOver = (record: TurnRecord, quiet: number): boolean =>
  quiet >= (record.endedAt === null && record.repliedAt === null ? lostMs : quietMs);

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
      forgetOldest(values, size);
    },
  };
}
