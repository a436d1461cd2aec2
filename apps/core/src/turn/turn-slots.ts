import { remove, type Place } from './turn-place.ts';

/** The slots of all conversations: a turn that has its conversation's lock waits here until it may run. First come, first served. */
export interface TurnSlots {
  /** Whether a turn that has its lock may begin at once. */
  isFree(place: Place): boolean;
  /** Begins a turn for which a slot is free. */
  take(place: Place): void;
  /** A turn has its lock and waits for a slot. */
  waitFor(place: Place): void;
  /** Lends the turn's slot to others while it waits for a person. Resolves when it has one again; for an aborted turn, at once. */
  rest<T>(place: Place, wait: () => Promise<T>): Promise<T>;
  /** The turn has left, whether it ran or waited. */
  leave(place: Place): void;
  /** Nothing more begins, except turns with `passesHold`, until the returned function is called. */
  hold(): () => void;
  /** The waiting turns, in order. */
  readonly waiting: readonly Place[];
  /** How many turns have a slot (`taken`), and how many have lent theirs (`resting`). */
  taken(): number;
  resting(): number;
}

export function createTurnSlots(slots: number): TurnSlots {
  const waiting: Place[] = [];
  let taken = 0;
  let resting = 0;
  let holders = 0;

  const mayPass = (place: Place) => holders === 0 || place.passesHold;

  function take(place: Place): void {
    place.state = 'running';
    taken++;
  }

  /** Begins waiting turns while slots are free. */
  function fill(): void {
    while (taken < slots) {
      const place = waiting.find(mayPass);
      if (place === undefined) return;
      beginWaiting(place);
    }
  }

  function beginWaiting(place: Place): void {
    remove(waiting, place);
    take(place);
    place.waiting?.start();
  }

  /** Ahead of all that wait for a slot: it has already waited once. */
  function comeBack(place: Place): Promise<void> | void {
    if (place.state !== 'resting') return;
    resting--;
    const { signal } = place.controller;
    if (taken < slots || signal.aborted) return take(place);
    return new Promise((start) => {
      place.state = 'returning';
      place.waiting = { start, refuse: ignore, onQueued: ignore, told: 0 };
      waiting.unshift(place);
      signal.addEventListener('abort', () => place.state === 'returning' && beginWaiting(place), { once: true });
    });
  }

  return {
    isFree: (place) => taken < slots && mayPass(place),
    take,

    waitFor(place) {
      waiting.push(place);
      fill();
    },

    async rest<T>(place: Place, wait: () => Promise<T>): Promise<T> {
      // A resting turn keeps its engine, so at most as many may rest as may run. Further ones keep their slots.
      if (place.state !== 'running' || resting >= slots) return wait();
      place.state = 'resting';
      taken--;
      resting++;
      fill();
      try {
        return await wait();
      } finally {
        await comeBack(place);
      }
    },

    leave(place) {
      if (place.state === 'running') taken--;
      else if (place.state === 'resting') resting--;
      else if (place.state === 'returning') place.waiting?.start();
      place.state = 'gone';
      remove(waiting, place);
      fill();
    },

    hold() {
      holders++;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        holders--;
        fill();
      };
    },

    waiting,
    taken: () => taken,
    resting: () => resting,
  };
}

const ignore = () => undefined;
