import { rolePrefix } from '@svc/contract/instance-rules.ts';
import {
  askPolicies,
  atLeast,
  type AskPolicy,
  tiers,
  toolPolicies,
  type Denial,
  type Identity,
  type JudgedGrant,
  type Tier,
  type ToolPolicy,
} from '@svc/contract/trust.ts';
import type { GrantedRole, KnownSender } from './trust-store.ts';

export type TrustContext = {
  surface: string;
  conversationKey: string;
  public: boolean;
  now: number;
  /** The people and roles that the instance is open to; unset for everybody. */
  allow?: readonly string[];
};

/** Below this tier a sender gets no answer. */
const floor: Tier = 'GUEST';
const publicCap: Tier = 'TRUSTED';

/**
 * Effective trust of a sender in a context: the highest tier among live grants whose scope fits, capped on public
 * surfaces. What the sender may do is what any of the grants of that tier allows. A sender the store does not know is
 * denied, and a block that fits outweighs everything.
 */
export function toIdentity(sender: KnownSender | null, context: TrustContext): Identity {
  if (sender === null) return denied(null, 'unknown_sender', 'no person has this identifier on this channel');
  if (!sender.active) return denied(sender, 'disabled', 'the person is disabled');
  const grants = sender.grants.filter((grant) => misfitOf(grant, context) === null);
  if (grants.some((grant) => grant.tier === 'BLOCKED')) return denied(sender, 'blocked', 'the person is blocked here', 'BLOCKED');
  const best = tiers.findLast((tier) => grants.some((grant) => grant.tier === tier));
  if (best === undefined) return denied(sender, 'no_grant', 'the person has no role that applies here');
  if (!atLeast(best, floor)) return denied(sender, 'low_tier', `people of the tier ${best} get no answer`, best);
  if (context.allow !== undefined && !isOpenTo(sender, grants, context.allow))
    return denied(sender, 'not_allowed', 'the connector is not open to this person (its setting "allow")');
  const highest = grants.filter(({ tier }) => tier === best);
  const tier = context.public && atLeast(best, publicCap) ? publicCap : best;
  return {
    principal_id: sender.principal_id,
    principal_key: sender.key,
    display_name: sender.display_name,
    trust_tier: tier,
    tool_policy: widestPolicy(highest),
    tool_servers: toolServersOf(highest),
    asks: leastAsking(highest),
    bypass_moderation: sender.bypass_moderation,
    denied: false,
    reason: `granted ${best}${tier === best ? '' : `, capped to ${tier} on a public surface`}`,
  };
}

/** The list may name people by key or id, and the roles that apply in this context. */
const isOpenTo = ({ principal_id, key }: KnownSender, grants: readonly GrantedRole[], allow: readonly string[]): boolean =>
  allow.some((entry) =>
    entry.startsWith(rolePrefix)
      ? grants.some(({ role }) => role === entry.slice(rolePrefix.length))
      : entry === key || entry === principal_id,
  );

/** Every grant of a sender, with the reason why it does not apply in a context. */
export const judgeGrants = (sender: KnownSender, context: TrustContext): JudgedGrant[] =>
  sender.grants.map((grant) => ({
    id: grant.id,
    role: grant.role,
    tier: grant.tier,
    tool_policy: grant.tool_policy,
    scope: {
      ...(grant.scope_surface === null ? {} : { surface: grant.scope_surface }),
      ...(grant.scope_conversation_key === null ? {} : { conversation_key: grant.scope_conversation_key }),
    },
    expires_at: grant.expires_at,
    misfit: misfitOf(grant, context),
  }));

/** Why a grant does not apply in this context; null when it does. */
function misfitOf(grant: GrantedRole, { surface, conversationKey, now }: TrustContext): string | null {
  if (grant.expires_at !== null && grant.expires_at <= now) return 'it has expired';
  if (grant.surfaces !== '*' && !grant.surfaces.includes(surface)) {
    return `the role applies only on ${grant.surfaces.join(', ')}`;
  }
  if (grant.scope_surface !== null && grant.scope_surface !== surface) return `it is for ${grant.scope_surface} only`;
  if (grant.scope_conversation_key !== null && grant.scope_conversation_key !== conversationKey) {
    return `it is for the conversation ${grant.scope_conversation_key} only`;
  }
  return null;
}

/** The widest policy of the grants. An unknown policy allows nothing. */
const widestPolicy = (grants: readonly GrantedRole[]): ToolPolicy =>
  toolPolicies[Math.max(0, ...grants.map(({ tool_policy }) => toolPolicies.indexOf(tool_policy)))] ?? 'none';

/** Of the grants with the widest tool policy, the one that asks least. An unknown ask policy asks about everything. */
const leastAsking = (grants: readonly GrantedRole[]): AskPolicy => {
  const widest = widestPolicy(grants);
  const asks = grants.filter(({ tool_policy }) => tool_policy === widest).map((grant) => askPolicies.indexOf(grant.asks));
  return askPolicies[Math.min(...asks.map((place) => (place === -1 ? askPolicies.length - 1 : place)))] ?? 'always';
};

/** What any of the grants allows. */
const toolServersOf = (grants: readonly GrantedRole[]): string[] | '*' => {
  const names = new Set<string>();
  for (const { tool_servers } of grants) {
    if (tool_servers === '*') return '*';
    for (const name of tool_servers) names.add(name);
  }
  return [...names];
};

export const denied = (sender: KnownSender | null, denial: Denial, reason: string, tier: Tier = 'UNKNOWN'): Identity => ({
  principal_id: sender?.principal_id ?? null,
  principal_key: sender?.key ?? null,
  display_name: sender?.display_name ?? 'unknown',
  trust_tier: tier,
  tool_policy: 'none',
  tool_servers: [],
  asks: 'never',
  bypass_moderation: false,
  denied: true,
  denial,
  reason,
});
