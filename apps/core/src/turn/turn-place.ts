import { AbortedInQueue, type AbortReason, type OnQueued } from './ticket.ts';

type Waiting = { start: () => void; refuse: (error: Error) => void; onQueued: OnQueued; told: number };
/** A turn's place in the line of its conversation. */
export type Place = {
  key: string;
  isNext: boolean;
  passesHold: boolean;
  /**
   * `entered`: its turn has not asked to run yet; `waiting`: for its lock, then for a slot; `resting`: it waits for a person
   * and has no slot; `returning`: it wants one again.
   */
  state: 'entered' | 'waiting' | 'running' | 'resting' | 'returning' | 'gone';
  waiting: Waiting | null;
  controller: AbortController;
  settled: Promise<void>;
};

/** Whether its turn has begun. */
export const isUnderWay = ({ state }: Place): boolean => state === 'running' || state === 'resting' || state === 'returning';

/** Tells a turn to end. */
export function abortPlace({ controller, state, waiting }: Place, reason: AbortReason): void {
  controller.abort(reason);
  if (state === 'waiting') waiting?.refuse(new AbortedInQueue());
}

/** The index behind the turn that has the lock and the earlier turns that jumped the queue. */
export function placeOfNext(line: Place[]): number {
  const behind = line.findIndex((place, index) => !place.isNext && !(index === 0 && place.state !== 'entered'));
  return behind === -1 ? line.length : behind;
}

export function remove<T>(list: T[], item: T): void {
  const index = list.indexOf(item);
  if (index !== -1) list.splice(index, 1);
}
