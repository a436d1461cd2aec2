/** Lowest to highest. Tiers are compared by their position in this list, never by name. */
export const tiers = ['BLOCKED', 'UNKNOWN', 'GUEST', 'KNOWN', 'TRUSTED', 'SACRED'] as const;
export type Tier = (typeof tiers)[number];

/** The tiers as people and models read them. */
export const tierWords: Record<Tier, string> = {
  BLOCKED: 'blocked',
  UNKNOWN: 'unknown',
  GUEST: 'guest',
  KNOWN: 'known',
  TRUSTED: 'trusted',
  SACRED: 'owner',
};

/** The shared sender of everyone without a name where none is required. Only the operator can admit them, all at once. */
export const anonymousSender = 'anonymous';

export const toolPolicies = ['none', 'read', 'full'] as const;
/** What the engine may do in a turn: talk only, read-only tools, everything. */
export type ToolPolicy = (typeof toolPolicies)[number];

/** From the fewest questions to the most. */
export const askPolicies = ['never', 'dangerous', 'always'] as const;
/**
 * What the engine must ask the person about first: nothing, everything that does more than read, or every tool call.
 * It restricts the tool policy and never extends it.
 */
export type AskPolicy = (typeof askPolicies)[number];

/** True when `tier` is `floor` or above. An unknown tier is below all others, and as a floor it is never reached. */
export function atLeast(tier: Tier, floor: Tier): boolean {
  const least = tiers.indexOf(floor);
  return least !== -1 && tiers.indexOf(tier) >= least;
}

export type Identifier = { id: string; principal_id: string; surface: string; value: string };
export type Role = {
  id: string;
  name: string;
  tier: Tier;
  tool_policy: ToolPolicy;
  surfaces: string[] | '*';
  /** Names of the tool servers that a turn of this role may use, within its tool policy. */
  tool_servers: string[] | '*';
  asks: AskPolicy;
  description: string;
};
export type Grant = {
  id: string;
  principal_id: string;
  role_id: string;
  /** The role's name. */
  role: string;
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

/** Why a sender is denied, for programs; `reason` is for people. */
export type Denial = 'unknown_sender' | 'disabled' | 'blocked' | 'no_grant' | 'low_tier' | 'not_allowed' | 'gate_closed';

/** Result of resolving a sender: effective trust, or a denial with its reason. */
export type Identity = {
  principal_id: string | null;
  principal_key: string | null;
  display_name: string;
  trust_tier: Tier;
  tool_policy: ToolPolicy;
  /** The tool servers of all roles that give this tier. */
  tool_servers: string[] | '*';
  /** The least strict value of the roles that give this tool policy. */
  asks: AskPolicy;
  bypass_moderation: boolean;
  denied: boolean;
  /** Set whenever `denied` is true. */
  denial?: Denial;
  reason: string;
};

/** A grant, judged for a sender in one place: `misfit` is why it does not apply; null when it does. */
export type JudgedGrant = Pick<Grant, 'id' | 'role' | 'scope' | 'expires_at'> &
  Pick<Role, 'tier' | 'tool_policy'> & { misfit: string | null };

/** Why a sender has the trust they have (`POST /trust/resolve` with `explain`). */
export type TrustExplanation = {
  identifier: { surface: string; value: string };
  principal: Pick<Principal, 'id' | 'key' | 'display_name' | 'status'> | null;
  grants: JudgedGrant[];
  /** The tier before the cap of public surfaces; null when nothing was capped. */
  capped_from: Tier | null;
};
export type ExplainedIdentity = Identity & { explanation: TrustExplanation };

export const trustChanges = [
  'seeded',
  'principal_created',
  'principal_changed',
  'principal_deleted',
  'principal_erased',
  'linked',
  'paired',
  'invited',
  'invitation_revoked',
  'joined',
  'unlinked',
  'moved',
  'role_created',
  'role_changed',
  'role_deleted',
  'granted',
  'grant_changed',
  'revoked',
  'folder_set',
  'folder_cleared',
  'folder_trusted',
  'folder_untrusted',
  'key_created',
  'key_revoked',
  'secret_set',
  'secret_removed',
  'vault_unsealed',
  'vault_unseal_refused',
  'vault_sealed',
  'vault_rotated',
  'vault_passphrase_changed',
  'vault_agent_added',
  'vault_agent_removed',
] as const;
export type TrustChangeName = (typeof trustChanges)[number];

/**
 * The actor of a change that came over the loopback without a proven name. Callers of the core are programs of this machine, so
 * an unproven `Remote-User` header does not identify a person.
 */
export const localActor = 'local';
/** The actor of changes from the operator's seed file. */
export const seedActor = 'seed';

/** One change of who is trusted, as `GET /trust/audit` lists it. `at` is epoch ms. */
export type TrustChange = {
  id: number;
  at: number;
  /** Who did it: the signed-in operator, `local` for a program on this machine, `seed` for the seed file and first start. */
  actor: string;
  what: TrustChangeName;
  /** Key of the principal it is about. */
  principal: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};
