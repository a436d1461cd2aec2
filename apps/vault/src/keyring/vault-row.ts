import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { KdfParameters } from '../crypto/passphrase-key.ts';

/** 2: with an inventory. */
export const currentFormat = 2;

/** The single row that describes the vault. */
export type VaultRow = {
  vault_id: string;
  /** `KdfParameters` as JSON. */
  kdf: string;
  wrapped_root: Uint8Array;
  generation: number;
  uses: number;
  admin_hash: Uint8Array | null;
  failed_unseals: number;
  failed_at: number;
  format: number;
};

export const readVaultRow = (db: Pick<Database, 'get'>): Promise<VaultRow | undefined> =>
  db.get<VaultRow>('SELECT * FROM vault WHERE id = 1');

/** What the wrapped root key is bound to: if the admin key or the parameters in the row were changed, it does not open. */
export const rootContext = (row: Pick<VaultRow, 'vault_id' | 'generation' | 'kdf' | 'admin_hash' | 'format'>) => [
  'root',
  row.vault_id,
  row.generation,
  row.kdf,
  row.admin_hash === null ? '' : Buffer.from(row.admin_hash).toString('hex'),
  ...(row.format < 2 ? [] : [row.format]),
];

/** A new row, without the wrapped root key. */
export const newVaultRow = (kdf: KdfParameters, adminHash: Buffer): VaultRow => ({
  vault_id: randomUUID(),
  kdf: JSON.stringify(kdf),
  wrapped_root: Buffer.alloc(0),
  generation: 1,
  uses: 0,
  admin_hash: adminHash,
  failed_unseals: 0,
  failed_at: 0,
  format: currentFormat,
});

export const insertVaultRow = (tx: Transaction, row: VaultRow, now: number): Promise<number> =>
  tx.run(
    'INSERT INTO vault (id, vault_id, kdf, wrapped_root, generation, uses, admin_hash, format, created_at, rotated_at) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    row.vault_id,
    row.kdf,
    row.wrapped_root,
    row.generation,
    row.uses,
    row.admin_hash,
    row.format,
    now,
    now,
  );
