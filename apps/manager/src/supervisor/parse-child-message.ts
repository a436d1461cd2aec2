import type { ChildMessage } from '@svc/connector-kit/child-protocol.ts';
import type { PartialEvent } from '@svc/contract/event.ts';
import { isRecord } from '@svc/contract/json-value.ts';

type Heard = Extract<ChildMessage, { type: 'heartbeat' | 'emit' | 'secret' }>;

/** A message of a connector process, or null for anything that is none: it is another program's word. */
export function parseChildMessage(message: unknown): Heard | null {
  if (!isRecord(message)) return null;
  if (message['type'] === 'heartbeat') return { type: 'heartbeat' };
  if (message['type'] === 'emit') {
    const { event } = message;
    return isEvent(event) ? { type: 'emit', event } : null;
  }
  if (message['type'] === 'secret') {
    const { requestId, name } = message;
    return typeof requestId === 'number' && typeof name === 'string' && name.isWellFormed()
      ? { type: 'secret', requestId, name }
      : null;
  }
  return null;
}

const types: Readonly<Record<string, readonly (keyof PartialEvent)[]>> = {
  string: ['id', 'surface', 'session', 'instance_id', 'identity', 'principal', 'text', 'request_id'],
  number: ['ts', 'cost_usd', 'billed_cost_usd'],
  boolean: ['billed', 'injected'],
};

/** Each field is of its type or not there: whoever cuts a long text takes it for one. */
function isEvent(event: unknown): event is PartialEvent {
  if (!isRecord(event) || typeof event['kind'] !== 'string' || !isRecord(event['payload'] ?? {})) return false;
  return Object.entries(types).every(([type, names]) =>
    names.every((name) => event[name] == null || typeof event[name] === type),
  );
}
