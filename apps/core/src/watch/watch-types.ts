import type { TurnEnd } from '@svc/contract/session.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import type { Turn, TurnSink } from '../turn/turn.ts';
import type { Parcel } from './parcels.ts';

/** A turn between its acceptance and its end, as watchers see it. */
export type WatchedTurn = {
  turn: Turn;
  /** The reply so far. */
  said(): string;
  /** The question that it waits for. */
  asked(): Extract<TurnProgress, { type: 'ask' }> | null;
  /** Streams the turn from now on; `start` is called as soon as the turn is safely in the journal. */
  watch(start: () => TurnSink): void;
  unwatch(): void;
};

/** A watcher of a conversation, at its own pace. */
export type Watcher = {
  send(parcel: Parcel): void;
  /** Null when the watcher accepts more, else resolves when it does; false when it is gone or has accepted nothing for too long. */
  room(): Promise<boolean> | null;
  /** The stream ends because of an internal error. */
  failed(): void;
  /** The conversation's content was forgotten. */
  forgotten?(): void;
};

export type Ending = Omit<TurnEnd, 'type'>;
