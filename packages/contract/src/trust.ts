/** Lowest to highest. A tier is compared by its place in this list, never by name. */
export const tiers = ['BLOCKED', 'UNKNOWN', 'GUEST', 'KNOWN', 'TRUSTED', 'SACRED'] as const;
export type Tier = (typeof tiers)[number];

export const toolPolicies = ['none', 'read', 'full'] as const;
/** What the engine may do in a turn: talk only, read-only tools, everything. */
export type ToolPolicy = (typeof toolPolicies)[number];

/** True when `tier` is `floor` or above. */
export const atLeast = (tier: Tier, floor: Tier): boolean => tiers.indexOf(tier) >= tiers.indexOf(floor);

export type Identifier = { id: string; principal_id: string; surface: string; value: string };
export type Role = {
  id: string;
  name: string;
  tier: Tier;
  tool_policy: ToolPolicy;
  surfaces: string[] | '*';
  description: string;
};
export type Grant = {
  id: string;
  principal_id: string;
  role_id: string;
  scope: { surface?: string; conversation_key?: string };
  expires_at: number | null;
};
export type Principal = {
  id: string;
  key: string;
  display_name: string;
  status: 'active' | 'disabled';
  bypass_moderation: boolean;
  notes: string;
  identifiers: Identifier[];
  grants: Grant[];
  created_at: number;
  updated_at: number;
};

/** Why a sender is denied, for code to go by; `reason` says it to people. */
export type Denial = 'unknown_sender' | 'disabled' | 'blocked' | 'no_grant' | 'low_tier' | 'gate_closed';

/** Result of resolving a sender: effective trust, or a denial with its reason. */
export type Identity = {
  principal_id: string | null;
  principal_key: string | null;
  display_name: string;
  trust_tier: Tier;
  tool_policy: ToolPolicy;
  bypass_moderation: boolean;
  denied: boolean;
  /** Set whenever `denied` is true. */
  denial?: Denial;
  reason: string;
};
