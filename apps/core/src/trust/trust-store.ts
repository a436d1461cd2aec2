import type { Identifier, Tier, ToolPolicy } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Database } from '@svc/store/database.ts';
import { toIdentifierValue } from './identifier-value.ts';

/** A live grant with the role it gives. */
export type GrantedRole = {
  tier: Tier;
  tool_policy: ToolPolicy;
  surfaces: string[] | '*';
  scope_surface: string | null;
  scope_conversation_key: string | null;
  expires_at: number | null;
};

/** What the trust store knows of a sender: the principal and every role granted, whatever the context. */
export type KnownSender = {
  principal_id: string;
  key: string;
  display_name: string;
  active: boolean;
  bypass_moderation: boolean;
  grants: GrantedRole[];
};

export type NewRole = { name: string; tier: Tier; tool_policy: ToolPolicy; surfaces: string[] | '*'; description: string };
export type NewPrincipal = { key: string; display_name: string };

const selectSender = `
  SELECT p.id, p.key, p.display_name, p.status, p.bypass_moderation
  FROM identifier i JOIN principal p ON p.id = i.principal_id WHERE i.surface = ? AND i.value = ?`;
const selectPrincipal = 'SELECT id, key, display_name, status, bypass_moderation FROM principal WHERE id = ?';
const selectIdentifier = 'SELECT id, principal_id FROM identifier WHERE surface = ? AND value = ?';
const selectIdentifierById = `SELECT i.id, i.principal_id, i.surface, i.value, p.key
  FROM identifier i JOIN principal p ON p.id = i.principal_id WHERE i.id = ?`;
const selectOwnersWaysIn = `SELECT DISTINCT i.id FROM identifier i JOIN principal p ON p.id = i.principal_id
  JOIN trust_grant g ON g.principal_id = p.id JOIN role r ON r.id = g.role_id
  WHERE p.status = 'active' AND r.tier = 'SACRED' AND g.scope_surface IS NULL AND g.scope_conversation_key IS NULL
    AND g.expires_at IS NULL`;
const selectGrants = `
  SELECT r.tier, r.tool_policy, r.surfaces, g.scope_surface, g.scope_conversation_key, g.expires_at
  FROM trust_grant g JOIN role r ON r.id = g.role_id WHERE g.principal_id = ?`;
const insertRole = `INSERT INTO role (id, name, tier, tool_policy, surfaces, description) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (name) DO NOTHING`;
const insertPrincipal = `INSERT INTO principal (id, key, display_name, status, bypass_moderation, notes, created_at, updated_at)
  VALUES (?, ?, ?, 'active', 0, '', ?, ?) ON CONFLICT (key) DO NOTHING`;
const insertIdentifier = `INSERT INTO identifier (id, principal_id, surface, value) VALUES (?, ?, ?, ?)
  ON CONFLICT (surface, value) DO NOTHING`;
const insertGrant = `INSERT INTO trust_grant (id, principal_id, role_id, scope_surface, scope_conversation_key, expires_at)
  SELECT ?, ?, ?, NULL, NULL, NULL
  WHERE NOT EXISTS (SELECT 1 FROM trust_grant WHERE principal_id = ? AND role_id = ? AND scope_surface IS NULL)`;

type SenderRow = { id: string; key: string; display_name: string; status: string; bypass_moderation: number };
type GrantRow = Omit<GrantedRole, 'surfaces'> & { surfaces: string };

/** Principals, identifiers, roles and grants. Adding what exists already changes nothing. */
export function createTrustStore(db: Database, clock: Clock, ids: Ids) {
  const withGrants = async (row: SenderRow): Promise<KnownSender> => {
    const grants = await db.all<GrantRow>(selectGrants, row.id);
    return {
      principal_id: row.id,
      key: row.key,
      display_name: row.display_name,
      active: row.status === 'active',
      bypass_moderation: row.bypass_moderation === 1,
      grants: grants.map((grant) => ({ ...grant, surfaces: parseSurfaces(grant.surfaces) })),
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

    /** Identifiers by which somebody has every right, everywhere and without end. */
    async ownersWaysIn(): Promise<string[]> {
      return (await db.all<{ id: string }>(selectOwnersWaysIn)).map(({ id }) => id);
    },

    async removeIdentifier(id: string): Promise<(Identifier & { key: string }) | null> {
      const row = await db.get<Identifier & { key: string }>(selectIdentifierById, id);
      await db.run('DELETE FROM identifier WHERE id = ?', id);
      return row ?? null;
    },

    hasRole: async (name: string) => (await db.get('SELECT 1 FROM role WHERE name = ?', name)) !== undefined,

    isEmpty: async () => (await db.get('SELECT 1 FROM principal LIMIT 1')) === undefined,

    async addRole(role: NewRole): Promise<void> {
      const surfaces = role.surfaces === '*' ? '*' : JSON.stringify(role.surfaces);
      await db.run(insertRole, ids.next('role'), role.name, role.tier, role.tool_policy, surfaces, role.description);
    },

    /** The id of the principal with this key, made when there is none. */
    async addPrincipal({ key, display_name }: NewPrincipal): Promise<string> {
      const now = clock.now();
      await db.run(insertPrincipal, ids.next('principal'), key, display_name, now, now);
      const row = await db.get<{ id: string }>('SELECT id FROM principal WHERE key = ?', key);
      if (row === undefined) throw new Error(`principal ${key} could not be stored`);
      return row.id;
    },

    async addIdentifier(principalId: string, surface: string, value: string): Promise<void> {
      await db.run(insertIdentifier, ids.next('identifier'), principalId, surface, toIdentifierValue(surface, value));
    },

    /** Grants a role by name, everywhere and without end. */
    async addGrant(principalId: string, roleName: string): Promise<void> {
      const role = await db.get<{ id: string }>('SELECT id FROM role WHERE name = ?', roleName);
      if (role === undefined) throw new Error(`there is no role "${roleName}"`);
      await db.run(insertGrant, ids.next('grant'), principalId, role.id, principalId, role.id);
    },
  };
}

export type TrustStore = ReturnType<typeof createTrustStore>;

const parseSurfaces = (text: string): string[] | '*' => (text === '*' ? '*' : (JSON.parse(text) as string[]));
