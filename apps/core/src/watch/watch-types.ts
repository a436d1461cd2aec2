import type { TurnEnd } from '@svc/contract/session.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import type { Turn, TurnSink } from '../turn/turn.ts';
import type { Parcel } from './parcels.ts';

/** A turn between its acceptance and its end, as watchers need it. */
export type WatchedTurn = {
  turn: Turn;
  /** The reply so far. */
  said(): string;
  /** The question that it waits with. */
  asked(): Extract<TurnProgress, { type: 'ask' }> | null;
  /** Shows the turn from now on; `start` is called as soon as the turn is safe in the journal. */
  watch(start: () => TurnSink): void;
  unwatch(): void;
};

/** A watcher of a conversation, at its own pace. */
export type Watcher = {
  send(parcel: Parcel): void;
  /** Null when there is room for more, else when there is; false for a watcher that is gone, or has taken nothing for too long. */
  room(): Promise<boolean> | null;
  /** Nothing more comes, by a fault of ours. */
  failed(): void;
  /** What was said in the conversation is forgotten. */
  forgotten?(): void;
};

export type Ending = Omit<TurnEnd, 'type'>;
