import type { Instance } from '@svc/contract/instance.ts';
import { duration } from '@svc/service-kit/words.ts';

/** Describes an instance that runs, is not well and gives no reason. `now` is epoch ms. */
export function silence(
  { heartbeat, last_heartbeat_at }: Pick<Instance, 'heartbeat' | 'last_heartbeat_at'>,
  now = Date.now(),
): string {
  if (heartbeat === 'stale' && last_heartbeat_at !== null) return `has been silent for ${duration(now - last_heartbeat_at)}`;
  return heartbeat === 'unknown' ? 'has not reported yet' : 'the reason is unknown';
}
