import type { InstanceConfig } from '@svc/contract/instance.ts';
import type { Database } from '@svc/store/database.ts';

const select = 'SELECT id, type, name, enabled, config, created_at, updated_at FROM instance';
const list = `${select} ORDER BY created_at, id`;
const read = `${select} WHERE id = ?`;
const insert = 'INSERT INTO instance (id, type, name, enabled, config, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)';
const update = 'UPDATE instance SET name = ?, enabled = ?, config = ?, updated_at = ? WHERE id = ?';
const remove = 'DELETE FROM instance WHERE id = ?';
const nextNumber =
  'INSERT INTO instance_number (type, last) VALUES (?, 1) ON CONFLICT (type) DO UPDATE SET last = instance_number.last + 1 RETURNING last';
const readMeta = 'SELECT value FROM meta WHERE key = ?';
const writeMeta = 'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value';

/** An instance as it is stored. Times are epoch ms. */
export type StoredInstance = InstanceConfig & { created_at: number; updated_at: number };
type Row = { id: string; type: string; name: string; enabled: number; config: string; created_at: number; updated_at: number };

/** The rows of instances, and the manager's own notes. */
export type InstanceRows = {
  /** In the order they were made. */
  list(): Promise<StoredInstance[]>;
  read(id: string): Promise<StoredInstance | null>;
  create(instance: StoredInstance): Promise<void>;
  update(instance: StoredInstance): Promise<void>;
  delete(id: string): Promise<void>;
  /** `compat`, then `compat-2` and so on. An id is never used again, even after its instance was deleted. */
  nextId(type: string): Promise<string>;
  readMeta(key: string): Promise<string | null>;
  writeMeta(key: string, value: string): Promise<void>;
};
export type InstanceStore = InstanceRows & {
  /** Runs `fn` in one transaction; it must use the rows that it is given. */
  transaction<T>(fn: (rows: InstanceRows) => Promise<T>): Promise<T>;
};

export const createInstanceStore = (db: Database): InstanceStore => ({
  ...createInstanceRows(db),
  transaction: (fn) => db.transaction((inner) => fn(createInstanceRows(inner))),
});

function createInstanceRows(db: Database): InstanceRows {
  return {
    async list() {
      return (await db.all<Row>(list)).map(rowToInstance);
    },
    async read(id) {
      const row = await db.get<Row>(read, id);
      return row === undefined ? null : rowToInstance(row);
    },
    async create({ id, type, name, enabled, config, created_at, updated_at }) {
      await db.run(insert, id, type, name, Number(enabled), JSON.stringify(config), created_at, updated_at);
    },
    async update({ id, name, enabled, config, updated_at }) {
      await db.run(update, name, Number(enabled), JSON.stringify(config), updated_at, id);
    },
    async delete(id) {
      await db.run(remove, id);
    },
    async nextId(type) {
      const row = await db.get<{ last: number }>(nextNumber, type);
      const number = row?.last ?? 1;
      return number === 1 ? type : `${type}-${number}`;
    },
    async readMeta(key) {
      return (await db.get<{ value: string }>(readMeta, key))?.value ?? null;
    },
    async writeMeta(key, value) {
      await db.run(writeMeta, key, value);
    },
  };
}

const rowToInstance = (row: Row): StoredInstance => ({
  ...row,
  enabled: row.enabled === 1,
  config: JSON.parse(row.config) as Record<string, unknown>,
});
