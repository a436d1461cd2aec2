import type { Role } from '@svc/contract/trust.ts';
import type { Database } from '@svc/store/database.ts';

type RoleRow = Omit<Role, 'surfaces' | 'tool_servers'> & { surfaces: string; tool_servers: string };

const columns = 'id, name, tier, tool_policy, surfaces, tool_servers, asks, description';
const selectOne = `SELECT ${columns} FROM role WHERE id = ? OR name = ? ORDER BY id = ? DESC LIMIT 1`;
const selectLike = 'SELECT name FROM role WHERE name <> ? AND (id = ? OR lower(name) = ?) LIMIT 1';
const upsert = `INSERT INTO role (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET tier = excluded.tier, tool_policy = excluded.tool_policy, surfaces = excluded.surfaces,
    tool_servers = excluded.tool_servers, asks = excluded.asks, description = excluded.description`;
const selectHolders = `SELECT DISTINCT p.key FROM trust_grant g JOIN principal p ON p.id = g.principal_id
  WHERE g.role_id = ? ORDER BY p.key`;

/** Rows of roles. */
export interface RoleStore {
  list(): Promise<Role[]>;
  /** By id, else by name. */
  read(idOrName: string): Promise<Role | null>;
  /** The name of a role that this name could be mistaken for: it differs only in case, or equals the role's id. */
  findLike(name: string): Promise<string | null>;
  /** A role of the same name is replaced and keeps its id. */
  save(role: Role): Promise<void>;
  delete(id: string): Promise<number>;
  /** Keys of the principals who have a role. */
  holders(id: string): Promise<string[]>;
}

export function createRoleStore(db: Database): RoleStore {
  return {
    list: async (): Promise<Role[]> => (await db.all<RoleRow>(`SELECT ${columns} FROM role ORDER BY id`)).map(toRole),

    async read(idOrName: string): Promise<Role | null> {
      const row = await db.get<RoleRow>(selectOne, idOrName, idOrName, idOrName);
      return row === undefined ? null : toRole(row);
    },

    findLike: async (name: string): Promise<string | null> =>
      (await db.get<{ name: string }>(selectLike, name, name, name.toLowerCase()))?.name ?? null,

    async save({ id, name, tier, tool_policy, surfaces, tool_servers, asks, description }: Role): Promise<void> {
      await db.run(upsert, id, name, tier, tool_policy, listText(surfaces), listText(tool_servers), asks, description);
    },

    delete: (id: string) => db.run('DELETE FROM role WHERE id = ?', id),

    holders: async (id: string): Promise<string[]> => (await db.all<{ key: string }>(selectHolders, id)).map(({ key }) => key),
  };
}

const toRole = (row: RoleRow): Role => ({
  ...row,
  surfaces: parseList(row.surfaces),
  tool_servers: parseList(row.tool_servers),
});

/** A list of names as stored, or `*` for all of them. */
export const parseList = (text: string): string[] | '*' => (text === '*' ? '*' : (JSON.parse(text) as string[]));

export const listText = (list: readonly string[] | '*'): string => (list === '*' ? '*' : JSON.stringify(list));
