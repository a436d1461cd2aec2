import type { Identity } from '@svc/contract/trust.ts';
import type { CoreContext } from '../../context.ts';
import type { Turn } from '../turn.ts';

/** Who is speaking, and what that allows here and now. Every caller is denied until the trust store says otherwise. */
export async function resolveIdentity({ trust, events }: Pick<CoreContext, 'trust' | 'events'>, turn: Turn): Promise<Identity> {
  const identity = await trust.resolve(turn.envelope);
  if (identity.denied) events.denied(turn, identity);
  else events.inbound(turn, identity);
  return identity;
}
