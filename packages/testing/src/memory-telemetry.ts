import type { TelemetryEvent } from '@svc/contract/event.ts';
import { createHub } from '@svc/service-kit/hub.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';

export type MemoryTelemetry = Telemetry & { readonly events: TelemetryEvent[] };

/** Telemetry that stays in memory, for tests that check what was emitted. */
export function createMemoryTelemetry(): MemoryTelemetry {
  const events: TelemetryEvent[] = [];
  const hub = createHub<TelemetryEvent>((error) => {
    throw error;
  });
  const telemetry: MemoryTelemetry = {
    events,
    emit(partial) {
      const event: TelemetryEvent = {
        id: `event-${events.length + 1}`,
        ts: Date.now(),
        surface: null,
        session: null,
        instance_id: null,
        identity: null,
        principal: null,
        text: null,
        payload: {},
        cost_usd: null,
        billed_cost_usd: null,
        billed: false,
        injected: false,
        request_id: null,
        ...partial,
      };
      events.push(event);
      hub.publish(event);
      return event;
    },
    emitLong: async (partial) => void telemetry.emit(partial),
    subscribe: (listener) => hub.subscribe((event) => listener(event, noMask.json(event))),
    status: () => ({ unsent: 0, dropped: 0, collector: 'ok', lastError: null }),
    fault: () => null,
    notices: () => [],
    close: () => Promise.resolve(),
  };
  return telemetry;
}
