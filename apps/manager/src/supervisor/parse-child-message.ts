import type { ChildMessage } from '@svc/connector-kit/child-protocol.ts';
import type { PartialEvent } from '@svc/contract/event.ts';

type Heard = Extract<ChildMessage, { type: 'heartbeat' | 'emit' | 'secret' }>;

/** A message of a connector process, or null for anything that is none: it is another program's word. */
export function parseChildMessage(message: unknown): Heard | null {
  if (!isObject(message)) return null;
  if (message['type'] === 'heartbeat') return { type: 'heartbeat' };
  if (message['type'] === 'emit') {
    const { event } = message;
    return isObject(event) && typeof event['kind'] === 'string' ? { type: 'emit', event: event as PartialEvent } : null;
  }
  if (message['type'] === 'secret') {
    const { requestId, name } = message;
    return typeof requestId === 'number' && typeof name === 'string' ? { type: 'secret', requestId, name } : null;
  }
  return null;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
