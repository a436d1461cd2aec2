import type { AskPolicy, Grant, Identifier, Tier, ToolPolicy } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Database } from '@svc/store/database.ts';
import { foldCase, lookOf, toIdentifierValue } from './identifier-value.ts';
import { listText, parseList } from './role-store.ts';

/** A grant with its role, whether it applies or not. */
export type GrantedRole = {
  id: string;
  role: string;
  tier: Tier;
  tool_policy: ToolPolicy;
  surfaces: string[] | '*';
  tool_servers: string[] | '*';
  asks: AskPolicy;
  scope_surface: string | null;
  scope_conversation_key: string | null;
  expires_at: number | null;
};

/** A sender as the trust store knows them: the principal and all granted roles, whatever the context. */
export type KnownSender = {
  principal_id: string;
  key: string;
  display_name: string;
  active: boolean;
  bypass_moderation: boolean;
  grants: GrantedRole[];
};

export type NewRole = { name: string; tier: Tier; tool_policy: ToolPolicy; surfaces: string[] | '*'; description: string };
/** Where a grant applies, and until when (epoch ms). */
export type GrantPlace = { scope?: Grant['scope']; expires_at?: number | null };
export type NewPrincipal = { key: string; display_name: string };

const selectSender = `
  SELECT p.id, p.key, p.display_name, p.status, p.bypass_moderation
  FROM identifier i JOIN principal p ON p.id = i.principal_id WHERE i.surface = ? AND i.value = ?`;
const selectPrincipal = 'SELECT id, key, display_name, status, bypass_moderation FROM principal WHERE id = ?';
const selectIdentifier = 'SELECT id, principal_id FROM identifier WHERE surface = ? AND value = ?';
const selectOthers = `
  SELECT i.value, p.key FROM identifier i JOIN principal p ON p.id = i.principal_id
  WHERE i.surface = ? AND i.principal_id <> ? AND (i.value = ? OR octet_length(i.value) <> length(i.value))`;
const selectGrants = `
  SELECT g.id, r.name AS role, r.tier, r.tool_policy, r.surfaces, r.tool_servers, r.asks, g.scope_surface,
    g.scope_conversation_key, g.expires_at
  FROM trust_grant g JOIN role r ON r.id = g.role_id WHERE g.principal_id = ? ORDER BY g.id`;
const insertRole = `INSERT INTO role (id, name, tier, tool_policy, surfaces, description) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (name) DO NOTHING`;
const insertPrincipal = `INSERT INTO principal (id, key, display_name, status, bypass_moderation, notes, created_at, updated_at)
  VALUES (?, ?, ?, 'active', 0, '', ?, ?) ON CONFLICT (key) DO NOTHING`;
const insertIdentifier = `INSERT INTO identifier (id, principal_id, surface, value) VALUES (?, ?, ?, ?)
  ON CONFLICT (surface, value) DO NOTHING`;
const insertGrant = `INSERT INTO trust_grant (id, principal_id, role_id, scope_surface, scope_conversation_key, expires_at)
  SELECT ?, ?, ?, ?, ?, ?
  WHERE NOT EXISTS (SELECT 1 FROM trust_grant WHERE principal_id = ? AND role_id = ? AND scope_surface IS NOT DISTINCT FROM ?
    AND scope_conversation_key IS NOT DISTINCT FROM ? AND expires_at IS NOT DISTINCT FROM ?)`;

/** An identifier's value, and the key of the principal who has it. */
export type LookAlike = { value: string; key: string };

type SenderRow = { id: string; key: string; display_name: string; status: string; bypass_moderation: number };
type GrantRow = Omit<GrantedRole, 'surfaces' | 'tool_servers'> & { surfaces: string; tool_servers: string };

/** The reads and writes of resolving a sender and of the first set-up. */
export interface TrustStore {
  findSender(surface: string, value: string): Promise<KnownSender | null>;
  findPrincipal(id: string): Promise<KnownSender | null>;
  findPrincipalId(key: string): Promise<string | null>;
  findIdentifier(surface: string, value: string): Promise<Pick<Identifier, 'id' | 'principal_id'> | null>;
  /** The identifier of another principal that this one could be mistaken for: it differs only in case or spelling. */
  findLookAlike(principalId: string, surface: string, value: string): Promise<LookAlike | null>;
  /** A principal's key that equals this one, or differs only in case. */
  findLikeKey(key: string): Promise<string | null>;
  /** Every identifier of every principal. */
  identifiers(): Promise<Pick<Identifier, 'surface' | 'value'>[]>;
  hasIdentifierOn(surface: string): Promise<boolean>;
  hasRole(name: string): Promise<boolean>;
  isEmpty(): Promise<boolean>;
  /** False when a role of this name exists. */
  addRole(role: NewRole): Promise<boolean>;
  /** The id of the principal with this key, who is created if missing. */
  addPrincipal(principal: NewPrincipal): Promise<string>;
  /** False when it already belongs to a principal. */
  addIdentifier(principalId: string, surface: string, value: string): Promise<boolean>;
  /** Grants a role by name, by default everywhere and without expiry. False when that grant exists. */
  addGrant(principalId: string, roleName: string, place?: GrantPlace): Promise<boolean>;
}

/** Stores principals, identifiers, roles and grants. Adding something that exists changes nothing. */
export function createTrustStore(db: Database, clock: Clock, ids: Ids): TrustStore {
  const withGrants = async (row: SenderRow): Promise<KnownSender> => {
    const grants = await db.all<GrantRow>(selectGrants, row.id);
    return {
      principal_id: row.id,
      key: row.key,
      display_name: row.display_name,
      active: row.status === 'active',
      bypass_moderation: row.bypass_moderation === 1,
      grants: grants.map((grant) => ({
        ...grant,
        surfaces: parseList(grant.surfaces),
        tool_servers: parseList(grant.tool_servers),
      })),
    };
  };

  return {
    async findSender(surface: string, value: string): Promise<KnownSender | null> {
      const row = await db.get<SenderRow>(selectSender, surface, toIdentifierValue(surface, value));
      return row === undefined ? null : withGrants(row);
    },

    async findPrincipal(id: string): Promise<KnownSender | null> {
      const row = await db.get<SenderRow>(selectPrincipal, id);
      return row === undefined ? null : withGrants(row);
    },

    async findPrincipalId(key: string): Promise<string | null> {
      return (await db.get<{ id: string }>('SELECT id FROM principal WHERE key = ?', key))?.id ?? null;
    },

    async findIdentifier(surface: string, value: string): Promise<Pick<Identifier, 'id' | 'principal_id'> | null> {
      return (await db.get<Identifier>(selectIdentifier, surface, toIdentifierValue(surface, value))) ?? null;
    },

    async findLookAlike(principalId: string, surface: string, value: string): Promise<LookAlike | null> {
      const look = lookOf(surface, value);
      // Plain ASCII looks only like itself, so among such values at most one can be alike.
      const others = await db.all<LookAlike>(selectOthers, surface, principalId, look);
      return others.find((other) => lookOf(surface, other.value) === look) ?? null;
    },

    async findLikeKey(key: string): Promise<string | null> {
      const rows = await db.all<{ key: string }>(
        'SELECT key FROM principal WHERE octet_length(key) <> length(key) OR lower(key) = ?',
        foldCase(key),
      );
      return rows.find((row) => foldCase(row.key) === foldCase(key))?.key ?? null;
    },

    identifiers: () => db.all<Pick<Identifier, 'surface' | 'value'>>('SELECT surface, value FROM identifier'),

    hasIdentifierOn: async (surface: string) =>
      (await db.get('SELECT 1 FROM identifier WHERE surface = ? LIMIT 1', surface)) !== undefined,

    hasRole: async (name: string) => (await db.get('SELECT 1 FROM role WHERE name = ?', name)) !== undefined,

    isEmpty: async () => (await db.get('SELECT 1 FROM principal LIMIT 1')) === undefined,

    async addRole(role: NewRole): Promise<boolean> {
      const { name, tier, tool_policy, surfaces, description } = role;
      return (await db.run(insertRole, ids.next('role'), name, tier, tool_policy, listText(surfaces), description)) > 0;
    },

    async addPrincipal({ key, display_name }: NewPrincipal): Promise<string> {
      const now = clock.now();
      await db.run(insertPrincipal, ids.next('principal'), key, display_name, now, now);
      const row = await db.get<{ id: string }>('SELECT id FROM principal WHERE key = ?', key);
      if (row === undefined) throw new Error(`principal ${key} could not be stored`);
      return row.id;
    },

    async addIdentifier(principalId: string, surface: string, value: string): Promise<boolean> {
      const stored = toIdentifierValue(surface, value);
      return (await db.run(insertIdentifier, ids.next('identifier'), principalId, surface, stored)) > 0;
    },

    async addGrant(principalId: string, roleName: string, { scope = {}, expires_at = null }: GrantPlace = {}): Promise<boolean> {
      const role = await db.get<{ id: string }>('SELECT id FROM role WHERE name = ?', roleName);
      if (role === undefined) throw new Error(`there is no role "${roleName}"`);
      const place = [scope.surface ?? null, scope.conversation_key ?? null, expires_at];
      return (await db.run(insertGrant, ids.next('grant'), principalId, role.id, ...place, principalId, role.id, ...place)) > 0;
    },
  };
}
