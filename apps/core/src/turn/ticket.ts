/** Why a turn was told to end. */
export type AbortReason = 'operator' | 'shutdown';

/** A turn that was ended while it still waited for its slot. */
export class AbortedInQueue extends Error {}

/** Is called with how many turns stand before this one, now and as the line moves. */
export type OnQueued = (position: number) => void;
/** Gives the turn's slot to others while it waits for a person, and goes on when it has one again; one that is told to end, at once. */
export type Rest = <T>(wait: () => Promise<T>) => Promise<T>;
export type Work<T> = (signal: AbortSignal, rest: Rest) => Promise<T>;

/** A place in the line of a conversation, taken at once and in order. It is either run or left. */
export type Ticket = {
  /** Runs `work` when it is this place's time; settles as `work` does, with lock and slot free again. */
  run<T>(work: Work<T>, onQueued: OnQueued): Promise<T>;
  leave(): void;
  /** Tells it to end, whether it waits or runs. */
  abort(reason: AbortReason): void;
  /** True when `run` would begin at once. */
  isFree(): boolean;
};

/** For what waits for nobody. */
export const freeTicket: Ticket = {
  run: (work) => work(new AbortController().signal, (wait) => wait()),
  leave: () => undefined,
  abort: () => undefined,
  isFree: () => true,
};
