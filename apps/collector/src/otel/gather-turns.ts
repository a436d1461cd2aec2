import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { addEvent, newRecord, type TurnRecord } from './turn-record.ts';
import { toDeliverySpan, type SpanPlan } from './to-spans.ts';

export type TurnGatherer = {
  add(event: StoredEvent): void;
  /** Hands out all open turns, finished or not. */
  flush(): void;
  close(): void;
};

/** Limit of open turns; beyond it the oldest is handed out unfinished. */
const maxOpen = 2000;
const sweepMs = 1000;
/** A short turn has no event for its end, so it ends this long after its reply, whose other events follow at once. */
const quietMs = 2000;
/** Longer than a turn may take. */
const lostMs = 3 * 3_600_000;

/** Collects the events of each turn, and hands the turn out when it has ended. Other events are ignored. */
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
      if (typeof turnId !== 'string' || turnId === '' || !isPartOfTurn(event)) return;
      const known = open.get(turnId);
      // An event after the end of its turn, or without its beginning, does not start a turn.
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

/** An observed message or a chat command is no turn, and a delivery may outlive its turn. */
const isPartOfTurn = ({ kind, payload }: StoredEvent): boolean =>
  kind !== 'delivery' && payload['observed'] !== true && payload['command'] !== true;

const isOver = (record: TurnRecord, quiet: number): boolean =>
  quiet >= (record.endedAt === null && record.repliedAt === null ? lostMs : quietMs);

/** Older turns and deliveries are forgotten. */
const maxKnown = 5000;

/** Deliveries may outlive their turns, so the request ids of turns are remembered for a while. */
export function createTurnDeliveries() {
  const requestIds = bounded<string>(maxKnown);
  const begun = bounded<number>(maxKnown);
  return {
    /** The span of a delivery that ends with this event; null for every other event. */
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
