import type { MaskedJson } from '../redaction/outbound-mask.ts';
import type { PartialEvent, TelemetryEvent } from '@svc/contract/event.ts';

/** How a producer's telemetry stands; part of its `/health`. */
export type TelemetryStatus = { unsent: number; dropped: number; collector: 'ok' | 'away'; lastError: string | null };

/**
 * A producer's side of telemetry: what is emitted is on disk before the current turn of the event loop ends and reaches
 * the collector when it can. Emitting never throws and never waits.
 */
export type Telemetry = {
  emit(event: PartialEvent): TelemetryEvent;
  /** The same of an event with a long text, which is masked in slices: it is on disk once this resolves. Never rejects. */
  emitLong(event: PartialEvent): Promise<void>;
  /** Live view of what is emitted here. `line` is the event as JSON, which is made anyway. */
  subscribe(listener: (event: TelemetryEvent, line: MaskedJson) => void): () => void;
  status(): TelemetryStatus;
  /** Tries to hand over everything, bounded by `timeoutMs`, then stops. What is left is sent after the next start. */
  close(timeoutMs: number): Promise<void>;
};
