import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transaction } from '@svc/store/database.ts';
import { TamperedError } from '../crypto/aead.ts';
import type { Keyring } from './keyring.ts';
import { readVaultRow } from './vault-row.ts';

/** A listed row: its kind, its key, and the fields that are protected. `shown`: its name for people, if that is not its key. */
export type Listed = { kind: 'agent' | 'credential' | 'silo key'; name: string; shown?: string; fields: readonly unknown[] };

/** Changes an entry; `fields: null` removes it. */
export type InventoryChange = Omit<Listed, 'fields'> & { fields: Listed['fields'] | null };

type Entries = ReadonlyMap<string, string>;
type InventoryRow = { generation: number; entries: string; mac: Uint8Array };
type Stored = InventoryRow & { parsed: Entries };

/**
 * Knows which rows of the vault are current. Each row proves that the vault wrote it, but not that it is the latest
 * version: whoever put an earlier row back would make a revoked agent or an old secret valid again. So one authenticated
 * list has the digest of every row, and changes with them in one transaction. The list itself is compared with the copy in
 * memory, so that an earlier list cannot be put back either.
 */
export type Inventory = {
  /** Lists rows as they are from now on, in the transaction that writes them. */
  record(tx: Transaction, changes: readonly InventoryChange[]): Promise<void>;
  /** @throws TamperedError when one of them, read in the same transaction, is not the row that the vault wrote last. */
  check(tx: Transaction, listed: readonly Listed[]): Promise<void>;
  /** Adds everything that `check` would refuse to the faults. `all` must contain every row. */
  examine(tx: Transaction, all: readonly Listed[]): Promise<void>;
  /** What is refused in the file, one line each. */
  faults(): string[];
};

const select = 'SELECT generation, entries, mac FROM inventory WHERE id = 1';
const upsert = `INSERT INTO inventory (id, generation, entries, mac) VALUES (1, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, entries = excluded.entries, mac = excluded.mac`;
const whatToDo = 'Restart the vault and check ./svc vault agent and ./svc vault list, or restore a backup.';
/** After this many rows, the rest of the process gets a turn. */
const comparedAtOnce = 200;
/** Further faults are only counted. */
const mostFaults = 20;

export function createInventory(keyring: Pick<Keyring, 'keyOf' | 'onRotate'>): Inventory {
  const refused = new Map<string, string>();
  const { load, save } = createStoredInventory(keyring, refused);

  /** Returns the fault of the first row that is refused. */
  const compare = (listed: readonly Listed[], parsed: Entries): TamperedError | null => {
    let first: TamperedError | null = null;
    for (const { kind, name, shown = name, fields } of listed) {
      const id = idOf(kind, name);
      if (parsed.get(id) === digestOf(fields)) refused.delete(id);
      else {
        const fault = refuse(
          refused,
          id,
          `The ${kind} "${shown}" differs from what the vault wrote last: its row was changed or replaced by an older one.`,
        );
        first ??= fault;
      }
    }
    return first;
  };

  keyring.onRotate(async (tx, _from, to) => {
    await save(tx, to, (await load(tx)).parsed);
    return 0;
  });

  return {
    async record(tx, changes) {
      const { generation, parsed } = await load(tx);
      const changed = new Map(parsed);
      for (const { kind, name, fields } of changes) {
        const id = idOf(kind, name);
        if (fields === null) changed.delete(id);
        else changed.set(id, digestOf(fields));
        refused.delete(id);
      }
      await save(tx, generation, changed);
    },
    async check(tx, listed) {
      const fault = compare(listed, (await load(tx)).parsed);
      if (fault !== null) throw fault;
    },
    async examine(tx, all) {
      refused.clear();
      const stored = await load(tx).catch(passTampered);
      if (stored === null) return;
      for (let at = 0; at < all.length; at += comparedAtOnce) {
        compare(all.slice(at, at + comparedAtOnce), stored.parsed);
        await nextTurn();
      }
      const present = new Set(all.map(({ kind, name }) => idOf(kind, name)));
      for (const id of stored.parsed.keys()) if (!present.has(id)) refuse(refused, id, missing(id));
    },
    faults() {
      const all = [...refused.values()];
      const rest = all.length - mostFaults;
      return rest > 0 ? [...all.slice(0, mostFaults), `${rest} more rows are refused.`] : all;
    },
  };
}

type StoredInventory = {
  /** The current list. @throws TamperedError when the vault did not write it, or wrote another one later. */
  load(tx: Transaction): Promise<Pick<Stored, 'generation' | 'parsed'>>;
  save(tx: Transaction, generation: number, parsed: Entries): Promise<void>;
};

/** The list itself, on disk and in the memory of this process. */
function createStoredInventory(keyring: Pick<Keyring, 'keyOf'>, refused: Map<string, string>): StoredInventory {
  /** As it was committed last. It contains no secret, and is kept while the vault is sealed. */
  let committed: Stored | null = null;
  const uncommitted = new WeakMap<Transaction, Stored>();
  const macOf = (generation: number, entries: string): Buffer =>
    createHmac('sha256', keyring.keyOf(generation, 'inventory')).update(entries).digest();

  /** Checks the list that this process reads for the first time, by its MAC alone. Without a row nothing is listed yet. */
  const accept = async (tx: Transaction, row: InventoryRow | undefined): Promise<Pick<Stored, 'generation' | 'parsed'>> => {
    const generation = (await readVaultRow(tx))?.generation ?? 0;
    if (row === undefined) return { generation, parsed: new Map() };
    if (row.generation !== generation || !isEqual(row.mac, macOf(generation, row.entries))) {
      throw refuse(refused, 'inventory', `The inventory of the vault was changed by something other than the vault. ${whatToDo}`);
    }
    committed = { ...row, parsed: new Map(JSON.parse(row.entries) as [string, string][]) };
    return committed;
  };

  return {
    async load(tx) {
      const row = await tx.get<InventoryRow>(select);
      const known = uncommitted.get(tx) ?? committed;
      const stored = known ?? (await accept(tx, row));
      if (known !== null && (row === undefined || row.entries !== known.entries || !isEqual(row.mac, known.mac))) {
        throw refuse(
          refused,
          'inventory',
          `The inventory of the vault differs from what the vault wrote last: it was changed or replaced by an older one. ${whatToDo}`,
        );
      }
      refused.delete('inventory');
      return stored;
    },
    async save(tx, generation, parsed) {
      const entries = JSON.stringify([...parsed]);
      const saved = { generation, entries, mac: macOf(generation, entries), parsed };
      await tx.run(upsert, generation, entries, saved.mac);
      uncommitted.set(tx, saved);
      tx.afterCommit(() => void (committed = saved));
    },
  };
}

/** Adds the message to the faults, under the id of its row. */
function refuse(refused: Map<string, string>, id: string, message: string): TamperedError {
  refused.set(id, message);
  return new TamperedError(message);
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

/** A TamperedError is among the faults already. */
function passTampered(error: unknown): null {
  if (error instanceof TamperedError) return null;
  throw error;
}

const idOf = (kind: Listed['kind'], name: string): string => JSON.stringify([kind, name]);

const missing = (id: string): string => {
  const [kind, name] = JSON.parse(id) as [Listed['kind'], string];
  return `The ${kind} "${name}" is missing: something other than the vault removed its row.`;
};

const digestOf = (fields: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify(fields.map((field) => (field instanceof Uint8Array ? toHex(field) : field))))
    .digest('base64url');

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
