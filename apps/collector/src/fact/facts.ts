import type { Database } from '@svc/store/database.ts';
import type { BatchDatabase } from '@svc/store/open-sqlite.ts';

/**
 * Numbers of which there is one each. `retention_at`: the time by which old things were removed last. `indexed_seq`: the last event that the search
 * index had. `core_started_at`: when the core was started last. `transcripts_from`: what was in transcripts before is listed, not reported. Times are epoch ms.
 */
type Fact = 'retention_at' | 'indexed_seq' | 'core_started_at' | 'transcripts_from';
type Row = { value: number };

const select = 'SELECT value FROM fact WHERE name = ?';
const upsert = 'INSERT INTO fact (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';
const insert = 'INSERT INTO fact (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING';

/** Null while it was not kept yet. */
export const readFact = async (db: Pick<Database, 'get'>, name: Fact): Promise<number | null> =>
  (await db.get<Row>(select, name))?.value ?? null;

export const keepFact = async (db: Pick<Database, 'run'>, name: Fact, value: number): Promise<void> =>
  void (await db.run(upsert, name, value));

/** Keeps the first value that is given, and gives the one that is kept. */
export async function keepFirstFact(db: Pick<Database, 'get' | 'run'>, name: Fact, value: number): Promise<number> {
  await db.run(insert, name, value);
  return (await readFact(db, name)) ?? value;
}

/** One fact within the caller's batches, by prepared statements. */
export function factInBatch(db: BatchDatabase, name: Fact): { read(): number | null; keep(value: number): void } {
  const reading = db.statement(select);
  const keeping = db.statement(upsert);
  return {
    read: () => (reading.get(name) as Row | undefined)?.value ?? null,
    keep: (value) => void keeping.run(name, value),
  };
}
