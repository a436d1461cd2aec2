import { randomBytes } from 'node:crypto';
import { badRequest, forbidden } from '@svc/service-kit/service-error.ts';
import { tierWords } from '@svc/contract/trust.ts';
import type { VaultAgent, VaultDataKey, VaultPlainKey, VaultWrappedKey } from '@svc/contract/vault.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { AccessLog } from '../access/access-log.ts';
import { keyBytes, open, seal, TamperedError } from '../crypto/aead.ts';
import type { Inventory, Listed } from '../keyring/inventory.ts';
import { mostUses, type Keyring, type WrappedKey } from '../keyring/keyring.ts';

export type SiloKeyRow = WrappedKey & { version: number; uses: number };
type Deps = { clock: Clock; keyring: Keyring; inventory: Inventory; accessLog: AccessLog; maxUses?: number };

const newest = 'SELECT * FROM silo_key ORDER BY version DESC LIMIT 1';

/**
 * Wraps the data keys of silos for the agents that store the silos. The key that wraps them stays the same when the root key is
 * replaced, so that keys wrapped earlier still open. All methods throw `forbidden` for an agent with less trust than SACRED.
 */
export type SiloKeys = {
  /** A new data key, in plain form for use now and wrapped for storage. */
  generate(agent: VaultAgent, silo: string): Promise<VaultDataKey>;
  /** Wraps a data key that was made elsewhere, 32 bytes in base64. @throws ServiceError `bad_request` for any other length. */
  wrap(agent: VaultAgent, silo: string, key: string): Promise<VaultWrappedKey>;
  /** @throws ServiceError `bad_request` for what this vault did not wrap for this silo. */
  unwrap(agent: VaultAgent, silo: string, wrapped: string): Promise<VaultPlainKey>;
};

export function createSiloKeys(deps: Deps): SiloKeys {
  const { keyring, inventory, accessLog } = deps;
  keyring.onRotate((tx, from, to) => rewrapSiloKeys(deps, tx, from, to));

  const during = <T>(agent: VaultAgent, action: string, silo: string, work: (tx: Transaction) => Promise<T>): Promise<T> =>
    accessLog.during({ actor: agent.name, action, target: silo }, (tx) => {
      if (agent.tier !== 'SACRED')
        throw forbidden(`Keys of silos are for agents with the trust of an owner; this one is ${tierWords[agent.tier]}.`);
      return work(tx);
    });

  return {
    generate: (agent, silo) =>
      during(agent, 'generate-silo-key', silo, async (tx) => {
        const dataKey = randomBytes(keyBytes);
        const wrapped = wrapWith(keyring, await wrappingKey(deps, tx), silo, dataKey);
        return { ok: true, silo, key: dataKey.toString('base64'), wrapped };
      }),
    wrap: (agent, silo, key) =>
      during(agent, 'wrap-silo-key', silo, async (tx) => {
        const dataKey = Buffer.from(key, 'base64');
        if (dataKey.length !== keyBytes) throw badRequest(`A data key must be ${keyBytes} bytes in base64.`);
        return { ok: true, silo, wrapped: wrapWith(keyring, await wrappingKey(deps, tx), silo, dataKey) };
      }),
    unwrap: (agent, silo, wrapped) =>
      during(agent, 'unwrap-silo-key', silo, async (tx) => {
        const [, version = '0', text = ''] = /^v(\d{1,9})\.([\w-]+)$/.exec(wrapped) ?? [];
        const row = await tx.get<SiloKeyRow>('SELECT * FROM silo_key WHERE version = ?', Number(version));
        if (row === undefined) throw notOurs();
        await inventory.check(tx, [listedSiloKey(row)]);
        const dataKey = unwrapWith(keyring, row, silo, text);
        return { ok: true, silo, key: dataKey.toString('base64') };
      }),
  };
}

async function rewrapSiloKeys({ keyring, inventory }: Deps, tx: Transaction, from: number, to: number): Promise<number> {
  const rows = await tx.all<SiloKeyRow>('SELECT * FROM silo_key WHERE generation = ?', from);
  await inventory.check(tx, rows.map(listedSiloKey));
  const changed: Listed[] = [];
  for (const row of rows) {
    const key = keyring.unwrap('silos', row, contextOf(row.version));
    const wrapped = keyring.rewrap('silos', key, to, contextOf(row.version));
    await tx.run('UPDATE silo_key SET generation = ?, wrapped_key = ? WHERE version = ?', to, wrapped, row.version);
    key.fill(0);
    changed.push(listedSiloKey({ ...row, generation: to, wrapped_key: wrapped }));
  }
  await inventory.record(tx, changed);
  return rows.length;
}

/** The newest wrapping key, with one more use counted. */
async function wrappingKey(deps: Deps, tx: Transaction): Promise<SiloKeyRow> {
  const { inventory, maxUses = mostUses } = deps;
  const last = await tx.get<SiloKeyRow>(newest);
  if (last !== undefined) await inventory.check(tx, [listedSiloKey(last)]);
  const row = last !== undefined && last.uses < maxUses ? last : await addVersion(deps, tx, (last?.version ?? 0) + 1);
  await tx.run('UPDATE silo_key SET uses = uses + 1 WHERE version = ?', row.version);
  return row;
}

async function addVersion({ clock, keyring, inventory }: Deps, tx: Transaction, version: number): Promise<SiloKeyRow> {
  const key = randomBytes(keyBytes);
  const wrapped = await keyring.wrap(tx, 'silos', key, contextOf(version));
  const insert = 'INSERT INTO silo_key (version, generation, wrapped_key, uses, created_at) VALUES (?, ?, ?, 0, ?)';
  await tx.run(insert, version, wrapped.generation, wrapped.wrapped_key, clock.now());
  key.fill(0);
  const row = { ...wrapped, version, uses: 0 };
  await inventory.record(tx, [listedSiloKey(row)]);
  return row;
}

function wrapWith(keyring: Keyring, row: SiloKeyRow, silo: string, dataKey: Buffer): string {
  const key = keyring.unwrap('silos', row, contextOf(row.version));
  const wrapped = seal(key, dataKey, ['silo', silo, row.version]);
  key.fill(0);
  return `v${row.version}.${wrapped.toString('base64url')}`;
}

function unwrapWith(keyring: Keyring, row: SiloKeyRow, silo: string, text: string): Buffer {
  const key = keyring.unwrap('silos', row, contextOf(row.version));
  try {
    return open(key, Buffer.from(text, 'base64url'), ['silo', silo, row.version]);
  } catch (error) {
    throw error instanceof TamperedError ? notOurs() : error;
  } finally {
    key.fill(0);
  }
}

const contextOf = (version: number) => ['silo-key', version];

export const allSiloKeys = (db: Database): Promise<SiloKeyRow[]> => db.all<SiloKeyRow>('SELECT * FROM silo_key');

/** The row as the inventory lists it, without the number of uses. */
export const listedSiloKey = ({ version, generation, wrapped_key }: SiloKeyRow): Listed => ({
  kind: 'silo key',
  name: String(version),
  fields: [version, generation, wrapped_key],
});

const notOurs = () => badRequest('This vault did not wrap this key for this silo, or the key was changed since.');
