import type { Database } from '@svc/store/database.ts';
import type { BatchDatabase } from '@svc/store/open-sqlite.ts';

/**
 * Single stored numbers. `retention_at`: the time of the last clean-up. `indexed_seq`: the last event in the search index. `core_started_at`: the last
 * start of the core. `transcripts_from`: older transcripts are listed, but not reported as events. Times are epoch ms.
 */
type Fact = 'retention_at' | 'indexed_seq' | 'core_started_at' | 'transcripts_from';
type Row = { value: number };

const select = 'SELECT value FROM fact WHERE name = ?';
const upsert = 'INSERT INTO fact (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';
const insert = 'INSERT INTO fact (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING';

/** Null if it was not stored yet. */
export const readFact = async (db: Pick<Database, 'get'>, name: Fact): Promise<number | null> =>
  (await db.get<Row>(select, name))?.value ?? null;

export const keepFact = async (db: Pick<Database, 'run'>, name: Fact, value: number): Promise<void> =>
  void (await db.run(upsert, name, value));

/** Stores the value if there is none yet; returns the stored one. */
export async function keepFirstFact(db: Pick<Database, 'get' | 'run'>, name: Fact, value: number): Promise<number> {
  await db.run(insert, name, value);
  return (await readFact(db, name)) ?? value;
}

/** Reads and stores a fact within the caller's batches, with prepared statements. */
export function factInBatch(db: BatchDatabase, name: Fact): { read(): number | null; keep(value: number): void } {
  const reading = db.statement(select);
  const keeping = db.statement(upsert);
  return {
    read: () => (reading.get(name) as Row | undefined)?.value ?? null,
    keep: (value) => void keeping.run(name, value),
  };
}
