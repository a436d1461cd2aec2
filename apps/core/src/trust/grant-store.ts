import type { Grant } from '@svc/contract/trust.ts';
import type { Database } from '@svc/store/database.ts';
import { toGrant, type GrantRow } from './principal-store.ts';

const select = `SELECT g.id, g.principal_id, g.role_id, r.name AS role, g.scope_surface, g.scope_conversation_key, g.expires_at
  FROM trust_grant g JOIN role r ON r.id = g.role_id`;
const selectSame = `${select} WHERE g.principal_id = ? AND g.role_id = ? AND g.scope_surface IS NOT DISTINCT FROM ?
  AND g.scope_conversation_key IS NOT DISTINCT FROM ?`;
const upsert = `INSERT INTO trust_grant (id, principal_id, role_id, scope_surface, scope_conversation_key, expires_at)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`;

/** Rows of grants: who has which role where. */
export interface GrantStore {
  read(id: string): Promise<Grant | null>;
  /** The grant of the same role to the same principal for the same place. */
  findSame(grant: Pick<Grant, 'principal_id' | 'role_id' | 'scope'>): Promise<Grant | null>;
  /** Of an existing grant, only the expiry is changed. */
  save(grant: Grant): Promise<void>;
  delete(id: string): Promise<number>;
}

export function createGrantStore(db: Database): GrantStore {
  const one = async (sql: string, ...values: (string | null)[]): Promise<Grant | null> => {
    const row = await db.get<GrantRow>(sql, ...values);
    return row === undefined ? null : toGrant(row);
  };
  return {
    read: (id: string) => one(`${select} WHERE g.id = ?`, id),

    findSame: ({ principal_id, role_id, scope }: Pick<Grant, 'principal_id' | 'role_id' | 'scope'>) =>
      one(selectSame, principal_id, role_id, scope.surface ?? null, scope.conversation_key ?? null),

    async save({ id, principal_id, role_id, scope, expires_at }: Grant): Promise<void> {
      await db.run(upsert, id, principal_id, role_id, scope.surface ?? null, scope.conversation_key ?? null, expires_at);
    },

    delete: (id: string) => db.run('DELETE FROM trust_grant WHERE id = ?', id),
  };
}
