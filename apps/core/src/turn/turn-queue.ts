import type { Clock } from '@svc/service-kit/clock.ts';
import { queueFull, unavailable } from '@svc/service-kit/service-error.ts';
import { ShortLivedMap } from '@svc/service-kit/short-lived-map.ts';
import { within } from '@svc/service-kit/within.ts';
import type { AbortReason, OnQueued, Ticket, Work } from './ticket.ts';
import { createQueuePositions } from './queue-positions.ts';
import { abortPlace, isUnderWay, type Place, placeOfNext, remove } from './turn-place.ts';
import { createTurnSlots } from './turn-slots.ts';

export type TurnQueueLimits = {
  /** Most turns that run at once, over all keys. */
  slots: number;
  /** Most turns that wait, over all keys. */
  maxWaiting: number;
};

export type EnterOptions = {
  /** Makes it the next turn of the conversation: ahead of all that wait, but behind earlier ones with `next`. */
  next?: boolean;
  /** Exempt from the limits: work that was accepted and must not be refused any more. */
  unlimited?: boolean;
  /** May begin while others are held back (`hold`). */
  passesHold?: boolean;
};

/** The queue of turns: one at a time per conversation, limited over all. */
export interface TurnQueue {
  /** Takes a place. @throws ServiceError `queue_full` past the limits, `unavailable` on shutdown. */
  enter(key: string, options?: EnterOptions): Ticket;
  /** Checks that there is room for a turn that enters later. @throws ServiceError like `enter`. */
  checkRoom(key: string): void;
  /** Nothing more begins, except turns with `passesHold`, until the returned function is called. */
  hold(): () => void;
  /** Aborts the turn that is in flight for a key. False when there is none. */
  abort(key: string, reason: AbortReason): boolean;
  stateOf(key: string): 'idle' | 'queued' | 'running';
  isClosed(): boolean;
  counts(): { running: number; waiting: number };
  /** Refuses waiting turns, lets running ones finish until the deadline, then aborts them. */
  close(deadlineMs: number): Promise<void>;
}

/**
 * Serializes turns: one at a time per conversation key, at most `slots` over all keys. A turn first takes its key's lock, which
 * is the head of its line, and then a slot, so turns that wait for their own conversation hold no slot. Both are
 * first come, first served. All of it lives in memory: a killed process leaves no lock behind.
 */
export function createTurnQueue({ slots: mostSlots, maxWaiting }: TurnQueueLimits, clock: Clock): TurnQueue {
  const lines = new ShortLivedMap<string, Place[]>();
  const slots = createTurnSlots(mostSlots);
  const positions = createQueuePositions({ lines, forSlot: slots.waiting, clock });
  let places = 0;
  let closed = false;

  function enter(key: string, { next = false, unlimited = false, passesHold = false }: EnterOptions = {}): Ticket {
    if (closed) throw stopping();
    const line = lines.get(key) ?? [];
    if (!unlimited) checkLimits(line);
    const place: Place = {
      key,
      isNext: next,
      passesHold,
      state: 'entered',
      waiting: null,
      controller: new AbortController(),
      settled: Promise.resolve(),
    };
    if (next) line.splice(placeOfNext(line), 0, place);
    else line.push(place);
    lines.set(key, line);
    places++;
    return {
      run: (work, onQueued) => run(place, work, onQueued),
      leave: () => leave(place),
      abort: (reason) => abortPlace(place, reason),
      isFree: () => isFree(place),
    };
  }

  function checkLimits(line: Place[]): void {
    if (line.length === 0 && slots.taken() < mostSlots) return;
    const waiting = countWaiting();
    if (waiting >= maxWaiting) throw queueFull(`${waiting} turns are waiting already. Try again in a moment.`);
  }

  const countWaiting = () => places - slots.taken() - slots.resting();
  const hasLock = (place: Place) => lines.get(place.key)?.[0] === place;
  const isFree = (place: Place) => hasLock(place) && slots.isFree(place);

  async function run<T>(place: Place, work: Work<T>, onQueued: OnQueued): Promise<T> {
    if (closed) {
      leave(place);
      throw stopping();
    }
    // Nothing is awaited while lock and slot are free: the turn runs, and can be aborted, from this very call on.
    try {
      if (isFree(place)) slots.take(place);
      else await wait(place, onQueued);
      const result = work(place.controller.signal, (wait) => slots.rest(place, wait));
      place.settled = result.then(ignore, ignore);
      return await result;
    } finally {
      leave(place);
    }
  }

  function wait(place: Place, onQueued: OnQueued): Promise<void> {
    return new Promise<void>((start, refuse) => {
      place.state = 'waiting';
      place.waiting = { start, refuse, onQueued, told: 0 };
      if (hasLock(place)) slots.waitFor(place);
      positions.report(place);
    });
  }

  function leave(place: Place): void {
    if (place.state === 'gone') return;
    places--;
    slots.leave(place);
    const line = lines.get(place.key) ?? [];
    const hadLock = line[0] === place;
    remove(line, place);
    if (line.length === 0) lines.delete(place.key);
    else if (hadLock && line[0]?.state === 'waiting') slots.waitFor(line[0]);
    if (places > slots.taken()) positions.reportSoon();
  }

  /** The turn of a key that is in flight: it runs, or has its lock and waits for a slot. */
  const inFlight = (key: string): Place | undefined => {
    const head = lines.get(key)?.[0];
    return head === undefined || head.state === 'entered' || head.controller.signal.aborted ? undefined : head;
  };

  return {
    enter,
    checkRoom(key: string): void {
      if (closed) throw stopping();
      checkLimits(lines.get(key) ?? []);
    },

    hold: slots.hold,

    abort(key: string, reason: AbortReason): boolean {
      const place = inFlight(key);
      if (place !== undefined) abortPlace(place, reason);
      return place !== undefined;
    },

    stateOf(key: string): 'idle' | 'queued' | 'running' {
      const head = lines.get(key)?.[0];
      return head === undefined ? 'idle' : isUnderWay(head) ? 'running' : 'queued';
    },

    isClosed: () => closed,
    counts: () => ({ running: slots.taken() + slots.resting(), waiting: countWaiting() }),

    async close(deadlineMs: number): Promise<void> {
      closed = true;
      positions.close();
      const all = [...lines.values()].flat();
      for (const place of all) if (place.state === 'waiting') place.waiting?.refuse(stopping());
      const running = all.filter(isUnderWay);
      const settled = () => Promise.allSettled(running.map((place) => place.settled));
      await within(settled(), deadlineMs);
      for (const place of running) place.controller.abort('shutdown' satisfies AbortReason);
      await within(settled(), deadlineMs);
    },
  };
}

const stopping = () => unavailable('The service is stopping. Try again in a moment.');
const ignore = () => undefined;
