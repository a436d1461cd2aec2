import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from '@svc/store/database.ts';
import { TamperedError } from '../crypto/aead.ts';
import type { Keyring } from './keyring.ts';
import { readVaultRow } from './vault-row.ts';

/** A row that is listed: what it is, what it is called, and the fields that count. */
export type Listed = { kind: 'agent' | 'credential' | 'silo key'; name: string; fields: readonly unknown[] };

/** Changes an entry; `fields: null` takes it out. */
export type InventoryChange = Omit<Listed, 'fields'> & { fields: Listed['fields'] | null };

type Entries = Map<string, string>;
type InventoryRow = { generation: number; entries: string; mac: Uint8Array };

export type Inventory = {
  /** Lists rows as they are from now on, in the transaction that writes them. */
  record(tx: Database, changes: readonly InventoryChange[]): Promise<void>;
  /** @throws TamperedError when this is not the row that the vault wrote last. */
  check(db: Pick<Database, 'get'>, listed: Listed): Promise<void>;
  /** What of the file is refused, a line each. */
  faults(): string[];
};

const select = 'SELECT generation, entries, mac FROM inventory WHERE id = 1';
const upsert = `INSERT INTO inventory (id, generation, entries, mac) VALUES (1, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, entries = excluded.entries, mac = excluded.mac`;

/**
 * Knows which rows of the vault are in force. Each row proves by itself that the vault wrote it, but not that it did so
 * last: a revoked agent or an old secret would be good again once its earlier row was put back. So one authenticated
 * list names the digest of every row, and changes with them in one transaction.
 */
export function createInventory(keyring: Pick<Keyring, 'keyOf' | 'onRotate'>): Inventory {
  const refused = new Map<string, string>();

  const macOf = (generation: number, entries: string): Buffer =>
    createHmac('sha256', keyring.keyOf(generation, 'inventory')).update(entries).digest();

  /** Without a row nothing is listed yet. */
  const load = async (db: Pick<Database, 'get'>): Promise<{ generation: number; entries: Entries }> => {
    const row = await db.get<InventoryRow>(select);
    if (row === undefined) return { generation: (await readVaultRow(db))?.generation ?? 0, entries: new Map() };
    const mac = macOf(row.generation, row.entries);
    if (row.mac.length !== mac.length || !timingSafeEqual(row.mac, mac)) {
      throw refuse('inventory', 'The inventory of the vault was changed by something else than the vault.');
    }
    refused.delete('inventory');
    return { generation: row.generation, entries: new Map(JSON.parse(row.entries) as [string, string][]) };
  };
  const save = (tx: Database, generation: number, entries: Entries): Promise<unknown> => {
    const text = JSON.stringify([...entries]);
    return tx.run(upsert, generation, text, macOf(generation, text));
  };
  const refuse = (id: string, message: string): TamperedError => {
    refused.set(id, message);
    return new TamperedError(message);
  };

  keyring.onRotate(async (tx, _from, to) => {
    await save(tx, to, (await load(tx)).entries);
    return 0;
  });

  return {
    async record(tx, changes) {
      const { generation, entries } = await load(tx);
      for (const { kind, name, fields } of changes) {
        const id = idOf(kind, name);
        if (fields === null) entries.delete(id);
        else entries.set(id, digestOf(fields));
        refused.delete(id);
      }
      await save(tx, generation, entries);
    },
    async check(db, { kind, name, fields }) {
      const id = idOf(kind, name);
      const { entries } = await load(db);
      if (entries.get(id) !== digestOf(fields)) {
        throw refuse(id, `The ${kind} "${name}" is not as the vault wrote it last: its row was changed or put back.`);
      }
      refused.delete(id);
    },
    faults: () => [...refused.values()],
  };
}

const idOf = (kind: Listed['kind'], name: string): string => JSON.stringify([kind, name]);

const digestOf = (fields: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify(fields.map((field) => (field instanceof Uint8Array ? toHex(field) : field))))
    .digest('base64url');

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
