import { createHash } from 'node:crypto';
import type { Invitation } from '@svc/contract/pairing.ts';
import type { Database } from '@svc/store/database.ts';

/** An invitation as stored: with the id of the person it is for, and the identifier that used it. */
export type InvitationRow = Invitation & {
  principal_id: string | null;
  used_surface: string | null;
  used_value: string | null;
};
type NewRow = Omit<InvitationRow, 'principal' | 'used_surface' | 'used_value'>;

const select = `SELECT i.id, i.principal_id, p.key AS principal, i.name, i.role, i.surface, i.created_by, i.created_at, i.expires_at,
    i.used_surface, i.used_value
  FROM invitation i LEFT JOIN principal p ON p.id = i.principal_id`;
const insert = `INSERT INTO invitation (id, code_hash, principal_id, name, role, surface, created_by, created_at, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const use = 'UPDATE invitation SET principal_id = ?, used_surface = ?, used_value = ? WHERE id = ? AND used_surface IS NULL';

/** The code is long enough that its digest reveals nothing. */
const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex');

/** Rows of invitations. */
export interface InvitationStore {
  /** `code`: without the dashes that people see. */
  add(row: NewRow, code: string): Promise<void>;
  findByCode(code: string): Promise<InvitationRow | undefined>;
  read(id: string): Promise<InvitationRow | undefined>;
  /** The unused ones, newest first. */
  list(): Promise<InvitationRow[]>;
  use(id: string, by: { principal_id: string; surface: string; value: string }): Promise<void>;
  delete(id: string): Promise<number>;
  /** Deletes those that had ended by then. */
  prune(before: number): Promise<number>;
}

export function createInvitationStore(db: Pick<Database, 'all' | 'get' | 'run'>): InvitationStore {
  return {
    async add(row, code) {
      const { id, principal_id, name, role, surface, created_by, created_at, expires_at } = row;
      await db.run(insert, id, hashOf(code), principal_id, name, role, surface, created_by, created_at, expires_at);
    },

    findByCode: (code) => db.get<InvitationRow>(`${select} WHERE i.code_hash = ?`, hashOf(code)),

    read: (id) => db.get<InvitationRow>(`${select} WHERE i.id = ?`, id),

    list: () => db.all<InvitationRow>(`${select} WHERE i.used_surface IS NULL ORDER BY i.created_at DESC, i.id`),

    async use(id, { principal_id, surface, value }) {
      if ((await db.run(use, principal_id, surface, value, id)) === 0) throw new Error('the invitation was used meanwhile');
    },

    delete: (id) => db.run('DELETE FROM invitation WHERE id = ?', id),

    prune: (before) => db.run('DELETE FROM invitation WHERE expires_at < ?', before),
  };
}
