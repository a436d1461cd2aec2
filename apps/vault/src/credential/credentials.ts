import { randomBytes } from 'node:crypto';
import { atLeast, type Tier } from '@svc/contract/trust.ts';
import type { VaultCredential } from '@svc/contract/vault.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { refusePlaceholder } from '@svc/service-kit/redaction/placeholder.ts';
import { forbidden, notFound } from '@svc/service-kit/service-error.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { AccessLog } from '../access/access-log.ts';
import { keyBytes, open, seal } from '../crypto/aead.ts';
import type { Inventory, Listed } from '../keyring/inventory.ts';
import type { Keyring } from '../keyring/keyring.ts';
import {
  credentialsOfGeneration,
  deleteCredential,
  listCredentials,
  readCredential,
  rewrapCredential,
  writeCredential,
  type CredentialRow,
} from './credential-store.ts';

type Deps = { db: Database; clock: Clock; keyring: Keyring; inventory: Inventory; accessLog: AccessLog };
type Bound = Pick<CredentialRow, 'name' | 'version' | 'min_trust'>;

/** Secrets by name. Each version has its own data key, bound to the name, the version and the required trust. */
export type Credentials = {
  /** Stores a value; one of the same name is replaced. */
  put(name: string, value: string, minTrust: Tier): Promise<VaultCredential>;
  list(): Promise<VaultCredential[]>;
  /** @throws ServiceError `not_found`. */
  remove(name: string): Promise<void>;
  /** The row, for an agent of this tier. @throws ServiceError `not_found`, `forbidden`. */
  permitted(tx: Transaction, name: string, tier: Tier): Promise<CredentialRow>;
  /** @throws TamperedError when any part of the row was changed or comes from another row. */
  valueOf(tx: Transaction, row: CredentialRow): Promise<string>;
};

export function createCredentials({ db, clock, keyring, inventory, accessLog }: Deps): Credentials {
  const keyContext = ({ name, version, min_trust }: Bound) => ['credential-key', name, version, min_trust];
  const valueContext = ({ name, version, min_trust }: Bound) => ['credential', name, version, min_trust];

  keyring.onRotate(async (tx, from, to) => {
    const rows = await credentialsOfGeneration(tx, from);
    await inventory.check(tx, rows.map(listedCredential));
    const changed: Listed[] = [];
    for (const row of rows) {
      const key = keyring.unwrap('credentials', row, keyContext(row));
      const wrapped_key = keyring.rewrap('credentials', key, to, keyContext(row));
      key.fill(0);
      await rewrapCredential(tx, row.name, to, wrapped_key);
      changed.push(listedCredential({ ...row, generation: to, wrapped_key }));
    }
    await inventory.record(tx, changed);
    return rows.length;
  });

  return {
    put(name, value, minTrust) {
      return accessLog.during({ actor: 'admin', action: 'put', target: name }, async (tx) => {
        keyring.assertOpen();
        refusePlaceholder(value, 'value');
        const before = await readCredential(tx, name);
        const now = clock.now();
        const kept = { name, min_trust: minTrust, version: (before?.version ?? 0) + 1, updated_at: now };
        const credential = { ...kept, created_at: before?.created_at ?? now };
        const key = randomBytes(keyBytes);
        const sealed_value = seal(key, Buffer.from(value), valueContext(credential));
        const wrapped = await keyring.wrap(tx, 'credentials', key, keyContext(credential));
        key.fill(0);
        const row: CredentialRow = { ...credential, ...wrapped, sealed_value };
        await writeCredential(tx, row);
        await inventory.record(tx, [listedCredential(row)]);
        return credential;
      });
    },

    async list() {
      keyring.assertOpen();
      return listCredentials(db);
    },

    remove: (name) =>
      accessLog.during({ actor: 'admin', action: 'delete', target: name }, async (tx) => {
        keyring.assertOpen();
        if ((await deleteCredential(tx, name)) === 0) throw notFound('secret', name);
        await inventory.record(tx, [{ kind: 'credential', name, fields: null }]);
      }),

    async permitted(tx, name, tier) {
      const row = await readCredential(tx, name);
      if (row === undefined) throw notFound('secret', name);
      if (!atLeast(tier, row.min_trust))
        throw forbidden(`The secret "${name}" requires the tier ${row.min_trust}; this request has ${tier}.`);
      return row;
    },

    async valueOf(tx, row) {
      await inventory.check(tx, [listedCredential(row)]);
      const key = keyring.unwrap('credentials', row, keyContext(row));
      try {
        return open(key, row.sealed_value, valueContext(row)).toString();
      } finally {
        key.fill(0);
      }
    },
  };
}

/** The row as the inventory lists it. */
export const listedCredential = (row: CredentialRow): Listed => ({
  kind: 'credential',
  name: row.name,
  fields: [row.name, row.min_trust, row.version, row.generation, row.wrapped_key, row.sealed_value],
});
