import type { Route } from '../delivery/delivery-store.ts';
import { outboundTarget } from './steps/open-session.ts';
import type { Turn } from './turn.ts';

/** Where the answer of a turn can be pushed to; null for channels that only answer on their own connection. */
export function routeOf({ instanceId, envelope }: Turn): Route | null {
  const target = outboundTarget(envelope.channel_context);
  return instanceId === null || target === null ? null : { instance_id: instanceId, target };
}
