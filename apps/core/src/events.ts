import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import { createEventOut } from './event/event-out.ts';
import { loginEvents, type LoginEvents } from './event/login-events.ts';
import { serviceEvents, type ServiceEvents } from './event/service-events.ts';
import { terminalEvents, type TerminalEvents } from './event/terminal-events.ts';
import { turnEvents, type TurnEvents } from './event/turn-events.ts';
import { usageEvents, type UsageEvents } from './event/usage-events.ts';

/** What the core reports to the collector, one function for each event. Nothing here delays or fails a turn. */
export type Events = TurnEvents & UsageEvents & ServiceEvents & TerminalEvents & LoginEvents;

/** Events are sent in the background. Their texts are masked like every other outbound text. */
export function createEvents(
  telemetry: Pick<Telemetry, 'emit' | 'emitLong'>,
  knownSecrets: Pick<KnownSecrets, 'redactor'>,
): Events {
  const out = createEventOut(telemetry, knownSecrets);
  return { ...turnEvents(out), ...usageEvents(out), ...serviceEvents(out), ...terminalEvents(out), ...loginEvents(out) };
}
