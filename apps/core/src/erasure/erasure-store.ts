import type { Identifier } from '@svc/contract/trust.ts';
import type { Database } from '@svc/store/database.ts';

/** A person being erased. Their identifiers are kept here for a second search after the person was removed. */
export type Erasure = {
  principal_id: string;
  key: string;
  display_name: string;
  identifiers: Pick<Identifier, 'surface' | 'value'>[];
  keeps_shared: boolean;
  /** Who requested it. */
  actor: string;
  started_at: number;
};
type Row = Omit<Erasure, 'identifiers' | 'keeps_shared'> & { identifiers: string; keeps_shared: number };

const columns = 'principal_id, key, display_name, identifiers, keeps_shared, actor, started_at';
const insert = `INSERT INTO erasure (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (principal_id) DO NOTHING`;

/** Stores the erasures in progress. */
export interface ErasureStore {
  all(): Promise<Erasure[]>;
  /** An existing erasure stays unchanged. */
  add(erasure: Erasure): Promise<void>;
  remove(principalId: string): Promise<void>;
}

export const createErasureStore = (db: Pick<Database, 'all' | 'run'>): ErasureStore => ({
  all: async () => (await db.all<Row>(`SELECT ${columns} FROM erasure ORDER BY started_at, principal_id`)).map(toErasure),
  async add({ principal_id, key, display_name, identifiers, keeps_shared, actor, started_at }) {
    const names = JSON.stringify(identifiers.map(({ surface, value }) => ({ surface, value })));
    await db.run(insert, principal_id, key, display_name, names, keeps_shared ? 1 : 0, actor, started_at);
  },
  remove: async (principalId) => void (await db.run('DELETE FROM erasure WHERE principal_id = ?', principalId)),
});

const toErasure = ({ identifiers, keeps_shared, ...row }: Row): Erasure => ({
  ...row,
  identifiers: JSON.parse(identifiers) as Erasure['identifiers'], // only `add` writes it
  keeps_shared: keeps_shared === 1,
});
