import { maxTarget, targetIn } from '@svc/contract/envelope.ts';
import type { Route } from '../delivery/delivery-store.ts';
import { instanceOfKey } from '../session/conversation-key.ts';
import type { SessionRow } from '../session/session-store.ts';
import type { Turn } from './turn.ts';

/** Where the answer of a turn can be pushed to; null for channels that only answer on their own connection. */
export function routeOf({ instanceId, envelope }: Pick<Turn, 'instanceId' | 'envelope'>): Route | null {
  const target = outboundTarget(envelope.channel_context);
  return instanceId === null || target === null ? null : { instance_id: instanceId, target };
}

type Routed = Pick<SessionRow, 'conversation_key' | 'surface' | 'outbound_instance_id' | 'outbound_target'>;

/** Where a session is pushed to: both parts of the route, and the instance that its key names, or nowhere. */
export function routeOfSession({ conversation_key, surface, ...session }: Routed): Route | null {
  const { outbound_instance_id: instance, outbound_target: target } = session;
  if (instance === null || target === null || target.length > maxTarget) return null;
  return instance === instanceOfKey(surface, conversation_key) ? { instance_id: instance, target } : null;
}

/** The target that a message names. No channel takes one that is longer than the manager's limit. */
export function outboundTarget(context: Record<string, unknown> | undefined): string | null {
  const target = targetIn(context);
  return target === null || target.length > maxTarget ? null : target;
}
