import type { DatabaseSync } from 'node:sqlite';

/** The tables of a database in which some row holds a text, whatever the column. */
export function tablesWith(db: DatabaseSync, text: string): string[] {
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all();
  return tables
    .map(({ name }) => String(name))
    .filter((name) =>
      db
        .prepare(`SELECT * FROM "${name}"`)
        .all()
        .some((row) => JSON.stringify(row, printable).includes(text)),
    );
}

const printable = (_key: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
