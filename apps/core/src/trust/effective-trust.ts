import { atLeast, type Denial, type Identity, type Tier } from '@svc/contract/trust.ts';
import type { GrantedRole, KnownSender } from './trust-store.ts';

export type TrustContext = { surface: string; conversationKey: string; public: boolean; now: number };

/** Below this tier a sender gets no answer. */
const floor: Tier = 'GUEST';
const publicCap: Tier = 'TRUSTED';

/**
 * Effective trust of a sender in a context: the highest tier among live grants whose scope fits, capped on public
 * surfaces. A sender the store does not know is denied.
 */
export function toIdentity(sender: KnownSender | null, context: TrustContext): Identity {
  if (sender === null) return denied(null, 'unknown_sender', 'no principal has this identifier');
  if (!sender.active) return denied(sender, 'disabled', 'the principal is disabled');
  const grants = sender.grants.filter((grant) => fits(grant, context));
  if (grants.some((grant) => grant.tier === 'BLOCKED'))
    return denied(sender, 'blocked', 'the principal is blocked here', 'BLOCKED');
  const best = grants.toSorted((a, b) => (atLeast(a.tier, b.tier) ? -1 : 1))[0];
  if (best === undefined) return denied(sender, 'no_grant', 'the principal has no grant that fits here');
  if (!atLeast(best.tier, floor)) return denied(sender, 'low_tier', `the tier ${best.tier} gets no answer`, best.tier);
  const tier = context.public && atLeast(best.tier, publicCap) ? publicCap : best.tier;
  return {
    principal_id: sender.principal_id,
    principal_key: sender.key,
    display_name: sender.display_name,
    trust_tier: tier,
    tool_policy: best.tool_policy,
    bypass_moderation: sender.bypass_moderation,
    denied: false,
    reason: `granted ${best.tier}${tier === best.tier ? '' : `, capped to ${tier} on a public surface`}`,
  };
}

const fits = (grant: GrantedRole, { surface, conversationKey, now }: TrustContext): boolean =>
  (grant.expires_at === null || grant.expires_at > now) &&
  (grant.surfaces === '*' || grant.surfaces.includes(surface)) &&
  (grant.scope_surface === null || grant.scope_surface === surface) &&
  (grant.scope_conversation_key === null || grant.scope_conversation_key === conversationKey);

export const denied = (sender: KnownSender | null, denial: Denial, reason: string, tier: Tier = 'UNKNOWN'): Identity => ({
  principal_id: sender?.principal_id ?? null,
  principal_key: sender?.key ?? null,
  display_name: sender?.display_name ?? 'unknown',
  trust_tier: tier,
  tool_policy: 'none',
  bypass_moderation: false,
  denied: true,
  denial,
  reason,
});
