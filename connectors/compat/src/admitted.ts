import type { HandleResult } from '@svc/contract/turn.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** Throws for a caller that the core does not know: this protocol has a status for it. */
export function admitted(result: HandleResult): HandleResult {
  if (result.outcome === 'denied') throw new ServiceError('no_access', 'no access');
  return result;
}
