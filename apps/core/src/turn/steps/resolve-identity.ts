import type { Identity } from '@svc/contract/trust.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';

/**
 * Who is speaking, and what that allows here and now. Every caller is denied until the trust store says otherwise.
 * An operator's words act with no more rights than the person whose session it is.
 */
export async function resolveIdentity({ trust }: Pick<TurnDeps, 'trust'>, turn: Turn): Promise<Identity> {
  const { steering, envelope } = turn;
  if (steering === undefined) return trust.resolve(envelope);
  const owner = await trust.resolvePrincipal(steering.principalId, envelope);
  return owner.denied ? { ...owner, denied: false, trust_tier: 'GUEST', tool_policy: 'none' } : owner;
}
