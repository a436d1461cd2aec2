import type { Envelope } from '@svc/contract/envelope.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';

/** One run of the pipeline for one envelope. */
export type Turn = {
  id: string;
  /** One trace id from the connector to the engine. */
  requestId: string;
  envelope: Envelope;
  /** Connector instance the envelope came through, from its key; null for the core's own surfaces. */
  instanceId: string | null;
};

/** Where a turn shows itself while it runs. A sink never throws; its reader may be gone. */
export type TurnSink = (progress: TurnProgress) => void;

export type TurnIo = { sink: TurnSink; signal: AbortSignal };

export const silentSink: TurnSink = () => undefined;
