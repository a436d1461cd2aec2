import type { ServerResponse } from '@svc/service-kit/builtin.ts';
import { ByteBudget, type ByteLease } from '@svc/service-kit/intake/byte-budget.ts';

/** Of all bodies together that the relays of this process hold. A turn with images in its history is some ten megabytes. */
const relayBytes = 192 * 1024 * 1024;
const budget = new ByteBudget(relayBytes);

/** For what one request to a relay holds. It is given back when the request is over, whatever ends it. */
export function leaseForRequest(response: Pick<ServerResponse, 'once'>, from = budget): ByteLease {
  const lease = from.lease();
  response.once('close', () => lease.release());
  return lease;
}
