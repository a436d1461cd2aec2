import type { Tier } from '@svc/contract/trust.ts';
import type { VaultCredential } from '@svc/contract/vault.ts';
import type { Database, Transaction } from '@svc/store/database.ts';

export type CredentialRow = VaultCredential & {
  min_trust: Tier;
  generation: number;
  wrapped_key: Uint8Array;
  sealed_value: Uint8Array;
};

const upsert = `INSERT INTO credential (name, min_trust, version, generation, wrapped_key, sealed_value, created_at, updated_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET min_trust = excluded.min_trust, version = excluded.version,
  generation = excluded.generation, wrapped_key = excluded.wrapped_key, sealed_value = excluded.sealed_value,
  updated_at = excluded.updated_at`;

export const writeCredential = (tx: Transaction, row: CredentialRow): Promise<number> =>
  tx.run(
    upsert,
    row.name,
    row.min_trust,
    row.version,
    row.generation,
    row.wrapped_key,
    row.sealed_value,
    row.created_at,
    row.updated_at,
  );

export const readCredential = (db: Database, name: string): Promise<CredentialRow | undefined> =>
  db.get<CredentialRow>('SELECT * FROM credential WHERE name = ?', name);

export const deleteCredential = (tx: Transaction, name: string): Promise<number> =>
  tx.run('DELETE FROM credential WHERE name = ?', name);

export const listCredentials = (db: Database): Promise<VaultCredential[]> =>
  db.all<VaultCredential>('SELECT name, min_trust, version, created_at, updated_at FROM credential ORDER BY name');

export const allCredentials = (db: Database): Promise<CredentialRow[]> => db.all<CredentialRow>('SELECT * FROM credential');

export const credentialsOfGeneration = (db: Database, generation: number): Promise<CredentialRow[]> =>
  db.all<CredentialRow>('SELECT * FROM credential WHERE generation = ?', generation);

export const rewrapCredential = (tx: Transaction, name: string, generation: number, wrappedKey: Buffer): Promise<number> =>
  tx.run('UPDATE credential SET generation = ?, wrapped_key = ? WHERE name = ?', generation, wrappedKey, name);
