import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Tier } from '@svc/contract/trust.ts';
import type { VaultAgent } from '@svc/contract/vault.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { conflict, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { AccessLog } from '../access/access-log.ts';
import { hashAccessKey, newAccessKey } from '../crypto/access-key.ts';
import { TamperedError } from '../crypto/aead.ts';
import type { Inventory, Listed } from '../keyring/inventory.ts';
import type { Keyring } from '../keyring/keyring.ts';
import { readVaultRow } from '../keyring/vault-row.ts';
import { findAgentByKey, findAgentByName, insertAgent, listAgents, toAgent, updateAgent, type AgentRow } from './agent-store.ts';

type Deps = { db: Database; clock: Clock; ids: Ids; keyring: Keyring; inventory: Inventory; accessLog: AccessLog };

/** The name of the admin in the access log. */
const adminName = 'admin';

/** The clients that may request secrets. Only the hash of a key is stored; a row that the vault did not write itself is refused. */
export type Agents = {
  /** Registers an agent and returns its key, which cannot be read again. @throws ServiceError `conflict` for a name that is taken. */
  register(name: string, tier: Tier): Promise<{ agent: VaultAgent; key: string }>;
  /** Makes its key invalid. @throws ServiceError `not_found`. */
  revoke(name: string): Promise<VaultAgent>;
  list(): Promise<VaultAgent[]>;
  /** The agent with this key. @throws ServiceError `unauthorized`; `unavailable` while the vault is sealed. */
  authenticate(key: string | null): Promise<VaultAgent>;
};

export function createAgents({ db, clock, ids, keyring, inventory, accessLog }: Deps): Agents {
  const macOf = (row: Omit<AgentRow, 'mac'>): Buffer =>
    createHmac('sha256', keyring.keyOf(row.generation, 'agents'))
      .update(JSON.stringify(signedFields(row)))
      .digest();
  const signed = (row: Omit<AgentRow, 'mac'>): AgentRow => ({ ...row, mac: macOf(row) });
  const check = async (tx: Transaction, rows: readonly AgentRow[]): Promise<void> => {
    for (const row of rows) {
      const isSigned = row.mac.length === 32 && timingSafeEqual(row.mac, macOf(row));
      if (!isSigned) throw new TamperedError(`The agent "${row.name}" was changed by something other than the vault.`);
    }
    return inventory.check(tx, rows.map(listedAgent));
  };

  keyring.onRotate(async (tx, _from, generation) => {
    const before = await listAgents(tx);
    await check(tx, before);
    const rows = before.map((row) => signed({ ...row, generation }));
    for (const row of rows) await updateAgent(tx, row);
    await inventory.record(tx, rows.map(listedAgent));
    return 0;
  });

  return {
    register(name, tier) {
      return accessLog.during({ actor: 'admin', action: 'register-agent', target: name }, async (tx) => {
        keyring.assertOpen();
        if (name === adminName)
          throw conflict(`"${adminName}" is reserved for the admin in the access log. Choose another name.`);
        if ((await tx.get('SELECT 1 FROM agent WHERE name = ?', name)) !== undefined) {
          throw conflict(`The name "${name}" is or was the name of an agent. Choose another name.`);
        }
        const key = newAccessKey('vagent');
        const { generation = 0 } = (await readVaultRow(tx)) ?? {};
        const kept = { id: ids.next('agt'), name, tier, key_hash: hashAccessKey(key), created_at: clock.now() };
        const row = signed({ ...kept, revoked_at: null, generation });
        await insertAgent(tx, row);
        await inventory.record(tx, [listedAgent(row)]);
        return { agent: toAgent(row), key };
      });
    },

    revoke(name) {
      return accessLog.during({ actor: 'admin', action: 'revoke-agent', target: name }, async (tx) => {
        keyring.assertOpen();
        const row = await findAgentByName(tx, name);
        if (row === undefined) throw notFound('agent', name);
        // A row that was tampered with can be revoked too, and is listed as revoked from here on.
        const revoked = signed({ ...row, revoked_at: clock.now() });
        await updateAgent(tx, revoked);
        await inventory.record(tx, [listedAgent(revoked)]);
        return toAgent(revoked);
      });
    },

    async list() {
      keyring.assertOpen();
      return (await listAgents(db)).map(toAgent);
    },

    authenticate: (key) =>
      db.transaction(async (tx) => {
        const row = key === null ? undefined : await findAgentByKey(tx, hashAccessKey(key));
        if (row === undefined || row.revoked_at !== null) throw unknownAgent();
        keyring.assertOpen();
        await check(tx, [row]);
        return toAgent(row);
      }),
  };
}

/** The row as the inventory lists it. */
export const listedAgent = (row: AgentRow): Listed => ({
  kind: 'agent',
  name: row.id,
  shown: row.name,
  fields: [...signedFields(row), row.mac],
});

const signedFields = (row: Omit<AgentRow, 'mac'>) => [
  row.id,
  row.name,
  row.tier,
  Buffer.from(row.key_hash).toString('hex'),
  row.created_at,
  row.revoked_at,
  row.generation,
];

const unknownAgent = () =>
  new ServiceError('unauthorized', 'This route needs "Authorization: Bearer <key>" with the key of a registered agent.');
