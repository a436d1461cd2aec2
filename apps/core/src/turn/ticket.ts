/** Why a turn was told to end. */
export type AbortReason = 'operator' | 'shutdown';

/** A turn that was ended while it still waited for its slot. */
export class AbortedInQueue extends Error {}

/** Called with how many turns are ahead of this one, at first and whenever that changes. */
export type OnQueued = (position: number) => void;
/** Lends the turn's slot to others while it waits for a person, and continues once it has one again; an aborted turn continues at once. */
export type Rest = <T>(wait: () => Promise<T>) => Promise<T>;
export type Work<T> = (signal: AbortSignal, rest: Rest) => Promise<T>;

/** A place in the queue of a conversation, taken at once and in order. Its holder must either run or leave it. */
export type Ticket = {
  /** Runs `work` when the place is due; settles as `work` does, with lock and slot free again. */
  run<T>(work: Work<T>, onQueued: OnQueued): Promise<T>;
  leave(): void;
  /** Aborts it, whether it waits or runs. */
  abort(reason: AbortReason): void;
  /** True when `run` would begin at once. */
  isFree(): boolean;
};

/** A ticket for work that does not queue. */
export const freeTicket: Ticket = {
  run: (work) => work(new AbortController().signal, (wait) => wait()),
  leave: () => undefined,
  abort: () => undefined,
  isFree: () => true,
};
