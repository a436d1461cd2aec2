import type { Envelope } from '@svc/contract/envelope.ts';
import type { ExtraAction, TurnProgress } from '@svc/contract/turn.ts';
import type { Audience } from '../ask/ask-person.ts';
import type { Rest } from './ticket.ts';

/** Words of an operator that are put into a session. */
export type Steering = { by: string | null; wasRunning: boolean; principalId: string | null };

/** One of several messages that are answered as one. `name`: what its sender is called, on one line. */
export type MergedMessage = { envelope: Envelope; name: string };

/** One run of the pipeline for one envelope. */
export type Turn = {
  id: string;
  /** Place in the journal; 0 until it is there. */
  seq: number;
  /** One trace id from the connector to the engine. */
  requestId: string;
  envelope: Envelope;
  /** Connector instance the envelope came through, from its key; null for the core's own surfaces. */
  instanceId: string | null;
  /** The senders of a room's messages that are answered as one; the text names each. */
  together?: string[];
  /** Set on an injected turn. */
  steering?: Steering;
  /** True when the turn had begun before a restart of the service and is run for the second time. */
  isResumed?: boolean;
  /** What a turn that is run again had made beside its text before. */
  actions?: readonly ExtraAction[];
  /** Cursor of announcements that holds in place of the session's, for a turn that is run again. */
  announcedAfter?: number;
  /** The messages that were merged into it, in their order. Empty on one that is part of another turn. */
  parts?: MergedMessage[];
  /** The message whose edit this turn is, and the version of it. */
  amends?: { message_id: string; version: number };
  /** Its message was deleted: it ends without being answered. */
  isDropped?: boolean;
};

/** Where a turn shows itself while it runs. A sink never throws; its reader may be gone. */
export type TurnSink = (progress: TurnProgress) => void;

/** `audience`: whether the caller that waits for the turn can be shown a question. */
export type TurnIo = { sink: TurnSink; signal: AbortSignal; audience: () => Audience; rest: Rest };

/** Who waits for the answer of a turn. */
export type Caller = {
  /** Null for one that wants the answer only. */
  sink: TurnSink | null;
  isGone(): boolean;
  /** The message is in the journal and safe: it will be answered, or listed as failed, whatever happens to anybody. Once, before the answer. */
  onAccepted?(turnId: string): void;
  /** Can show a question to a person, and bring the answer. */
  showsAsks?: boolean;
  /** Asked before, over a connection that broke. */
  isAgain?: boolean;
};
