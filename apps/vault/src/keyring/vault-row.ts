import type { Database } from '@svc/store/database.ts';

/** The one row that says what this vault is. */
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
  /** 2 since there is an inventory. */
  format: number;
};

export const readVaultRow = (db: Pick<Database, 'get'>): Promise<VaultRow | undefined> =>
  db.get<VaultRow>('SELECT * FROM vault WHERE id = 1');

/** What the wrapped root key is bound to: with another admin key or other parameters beside it, it does not open. */
export const rootContext = (row: Pick<VaultRow, 'vault_id' | 'generation' | 'kdf' | 'admin_hash' | 'format'>) => [
  'root',
  row.vault_id,
  row.generation,
  row.kdf,
  row.admin_hash === null ? '' : Buffer.from(row.admin_hash).toString('hex'),
  ...(row.format < 2 ? [] : [row.format]),
];
