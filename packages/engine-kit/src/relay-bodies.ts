import type { ServerResponse } from '@svc/service-kit/builtin.ts';
import { ByteBudget, type ByteLease } from '@svc/service-kit/intake/byte-budget.ts';

/** Limit of all bodies held by this process's relays, together. A turn with images in its history has some ten megabytes. */
const relayBytes = 192 * 1024 * 1024;
const budget = new ByteBudget(relayBytes);

/** Memory for one request to a relay, which is released when the request ends for any reason. */
export function leaseForRequest(response: Pick<ServerResponse, 'once'>, from = budget): ByteLease {
  const lease = from.lease();
  response.once('close', () => lease.release());
  return lease;
}
