import type { Envelope } from '@svc/contract/envelope.ts';
import type { ExtraAction, TurnProgress } from '@svc/contract/turn.ts';
import type { Audience } from '../ask/ask-person.ts';
import type { Rest } from './ticket.ts';

/**
 * A text that is put into a session, ahead of what waits. `isOwn`: it is not an operator's, but from the person of the session, elsewhere:
 * one more of their messages, with their rights and under the same checks.
 */
export type Steering = { by: string | null; wasRunning: boolean; principalId: string | null; isOwn?: boolean };

/** Whether the turn is an operator's text. */
export const isByOperator = ({ steering }: Pick<Turn, 'steering'>): boolean => steering !== undefined && steering.isOwn !== true;

/** One of several messages that are answered as one. `name`: its sender's name, on one line. */
export type MergedMessage = { envelope: Envelope; name: string };

/** One run of the pipeline for one envelope. */
export type Turn = {
  id: string;
  /** Position in the journal; 0 until it is stored. */
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
  /** True when the turn had begun before a restart and is run again. */
  isResumed?: boolean;
  /** Files and reactions that a turn which is run again had made before. */
  actions?: readonly ExtraAction[];
  /** Announcement cursor that replaces the session's, for a turn that is run again. */
  announcedAfter?: number;
  /** The messages that were merged into it, in order. Empty on a message that is part of another turn. */
  parts?: MergedMessage[];
  /** The edited message that this turn handles, and its version. */
  amends?: { message_id: string; version: number };
  /** Its message was deleted: it ends without an answer. */
  isDropped?: boolean;
};

/** Receives the progress of a running turn. A sink never throws; its reader may be gone. */
export type TurnSink = (progress: TurnProgress) => void;

/** `audience`: whether a question can be shown to the waiting caller. */
export type TurnIo = { sink: TurnSink; signal: AbortSignal; audience: () => Audience; rest: Rest };

/** Who waits for the answer of a turn. */
export type Caller = {
  /** Null for a caller that wants only the answer. */
  sink: TurnSink | null;
  isGone(): boolean;
  /** The message is stored: it will be answered, or listed as failed, even if this caller disconnects. Called once, before the answer. */
  onAccepted?(turnId: string): void;
  /** It can show a question to a person, and return the answer. */
  showsAsks?: boolean;
  /** It has sent this request before, over a connection that broke. */
  isAgain?: boolean;
};
