import type { Identifier } from '@svc/contract/trust.ts';
import type { Database } from '@svc/store/database.ts';

/** One who is being erased. What they are known by is kept here: it is looked for once more when they are gone. */
export type Erasure = {
  principal_id: string;
  key: string;
  display_name: string;
  identifiers: Pick<Identifier, 'surface' | 'value'>[];
  keeps_shared: boolean;
  /** Who asked for it. */
  actor: string;
  started_at: number;
};
type Row = Omit<Erasure, 'identifiers' | 'keeps_shared'> & { identifiers: string; keeps_shared: number };

const columns = 'principal_id, key, display_name, identifiers, keeps_shared, actor, started_at';
const insert = `INSERT INTO erasure (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (principal_id) DO NOTHING`;

/** Rows of those who are being erased. */
export interface ErasureStore {
  all(): Promise<Erasure[]>;
  /** One that is there already stays as it was begun. */
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
  identifiers: JSON.parse(identifiers) as Erasure['identifiers'], // written by `add` alone
  keeps_shared: keeps_shared === 1,
});
