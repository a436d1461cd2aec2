import type { Grant, Identifier, Principal } from '@svc/contract/trust.ts';
import type { Database } from '@svc/store/database.ts';

type PrincipalRow = Pick<Principal, 'id' | 'key' | 'display_name' | 'status' | 'notes' | 'created_at' | 'updated_at'> & {
  bypass_moderation: number;
};
export type GrantRow = Pick<Grant, 'id' | 'principal_id' | 'role_id' | 'role' | 'expires_at'> & {
  scope_surface: string | null;
  scope_conversation_key: string | null;
};
export type PrincipalFields = Pick<Principal, 'display_name' | 'status' | 'bypass_moderation' | 'notes'>;
type Stamped = PrincipalFields & { now: number };

const columns = 'id, key, display_name, status, bypass_moderation, notes, created_at, updated_at';
const selectAll = `SELECT ${columns} FROM principal ORDER BY created_at, id`;
const selectAfter = `SELECT ${columns} FROM principal WHERE id > ? ORDER BY id LIMIT ?`;
const selectOne = `SELECT ${columns} FROM principal WHERE id = ? OR key = ? ORDER BY id = ? DESC LIMIT 1`;
const insert = `INSERT INTO principal (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const updateFields =
  'UPDATE principal SET display_name = ?, status = ?, bypass_moderation = ?, notes = ?, updated_at = ? WHERE id = ?';
const selectIdentifiers = 'SELECT id, principal_id, surface, value FROM identifier';
const selectGrants = `SELECT g.id, g.principal_id, g.role_id, r.name AS role, g.scope_surface, g.scope_conversation_key, g.expires_at
  FROM trust_grant g JOIN role r ON r.id = g.role_id`;
/** Principals with ids after one id, up to another. */
const inPage = 'WHERE principal_id > ? AND principal_id <= ?';

/** Rows of principals, with their identifiers and grants. */
export interface PrincipalStore {
  /** In order of creation. */
  list(): Promise<Principal[]>;
  /** In order of id, after `after`. */
  page(after: string, limit: number): Promise<Principal[]>;
  /** By id, else by key. */
  read(idOrKey: string): Promise<Principal | null>;
  add(id: string, key: string, values: Stamped): Promise<void>;
  update(id: string, values: Stamped): Promise<void>;
  /** Identifiers and grants go with it. */
  delete(id: string): Promise<number>;
  readIdentifier(id: string): Promise<Identifier | null>;
  deleteIdentifier(id: string): Promise<number>;
}

/** Stores principals, and reads them with their identifiers and grants. */
export function createPrincipalStore(db: Database): PrincipalStore {
  const whole = async (row: PrincipalRow): Promise<Principal> => {
    const identifiers = await db.all<Identifier>(`${selectIdentifiers} WHERE principal_id = ? ORDER BY id`, row.id);
    const grants = await db.all<GrantRow>(`${selectGrants} WHERE g.principal_id = ? ORDER BY g.id`, row.id);
    return toPrincipal(row, identifiers, grants);
  };

  return {
    async list(): Promise<Principal[]> {
      const rows = await db.all<PrincipalRow>(selectAll);
      const identifiers = await db.all<Identifier>(`${selectIdentifiers} ORDER BY id`);
      return toPrincipals(rows, identifiers, await db.all<GrantRow>(`${selectGrants} ORDER BY g.id`));
    },

    async page(after: string, limit: number): Promise<Principal[]> {
      const rows = await db.all<PrincipalRow>(selectAfter, after, limit);
      const last = rows.at(-1)?.id ?? after;
      const identifiers = await db.all<Identifier>(`${selectIdentifiers} ${inPage} ORDER BY id`, after, last);
      const grants = await db.all<GrantRow>(`${selectGrants} ${inPage} ORDER BY g.id`, after, last);
      return toPrincipals(rows, identifiers, grants);
    },

    async read(idOrKey: string): Promise<Principal | null> {
      const row = await db.get<PrincipalRow>(selectOne, idOrKey, idOrKey, idOrKey);
      return row === undefined ? null : whole(row);
    },

    async add(id: string, key: string, { display_name, status, bypass_moderation, notes, now }: Stamped): Promise<void> {
      await db.run(insert, id, key, display_name, status, bypass_moderation ? 1 : 0, notes, now, now);
    },

    async update(id: string, { display_name, status, bypass_moderation, notes, now }: Stamped): Promise<void> {
      await db.run(updateFields, display_name, status, bypass_moderation ? 1 : 0, notes, now, id);
    },

    delete: (id: string) => db.run('DELETE FROM principal WHERE id = ?', id),

    readIdentifier: async (id: string): Promise<Identifier | null> =>
      (await db.get<Identifier>(`${selectIdentifiers} WHERE id = ?`, id)) ?? null,

    deleteIdentifier: (id: string) => db.run('DELETE FROM identifier WHERE id = ?', id),
  };
}

const toHolder = ({ principal_id }: { principal_id: string }) => principal_id;

function toPrincipals(rows: PrincipalRow[], identifiers: Identifier[], grants: GrantRow[]): Principal[] {
  const known = Map.groupBy(identifiers, toHolder);
  const granted = Map.groupBy(grants, toHolder);
  return rows.map((row) => toPrincipal(row, known.get(row.id) ?? [], granted.get(row.id) ?? []));
}

const toPrincipal = (row: PrincipalRow, identifiers: Identifier[], grants: GrantRow[]): Principal => ({
  id: row.id,
  key: row.key,
  display_name: row.display_name,
  status: row.status,
  bypass_moderation: row.bypass_moderation === 1,
  notes: row.notes,
  identifiers,
  grants: grants.map(toGrant),
  created_at: row.created_at,
  updated_at: row.updated_at,
});

export const toGrant = ({
  id,
  principal_id,
  role_id,
  role,
  scope_surface,
  scope_conversation_key,
  expires_at,
}: GrantRow): Grant => ({
  id,
  principal_id,
  role_id,
  role,
  scope: {
    ...(scope_surface === null ? {} : { surface: scope_surface }),
    ...(scope_conversation_key === null ? {} : { conversation_key: scope_conversation_key }),
  },
  expires_at,
});
