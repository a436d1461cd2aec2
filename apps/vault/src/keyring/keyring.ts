import { randomBytes, hkdfSync } from 'node:crypto';
import { unavailable, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Transaction } from '@svc/store/database.ts';
import { keyBytes, open, seal } from '../crypto/aead.ts';
import { readVaultRow, rootContext, type VaultRow } from './vault-row.ts';

type Context = readonly (string | number)[];
export type WrappedKey = { generation: number; wrapped_key: Uint8Array };
export type Rotated = { generation: number; rewrapped: number };
type PurposeKeys = Record<Purpose, Buffer>;

/** Wraps everything that one root key has wrapped with the next one. Returns the number of keys. */
export type Rewrap = (tx: Transaction, from: number, to: number) => Promise<number>;

/**
 * A random nonce may repeat after 2^32 uses of a key; a key is replaced long before. The uses of all keys that are derived
 * from one root key are counted together.
 */
export const mostUses = 2 ** 30;

/** The keys in memory while the vault is open. They are only ever written in wrapped form. */
export type Keyring = {
  isSealed(): boolean;
  /** @throws ServiceError `unavailable` with `sealed: true`, as all below do that need a key. */
  assertOpen(): void;
  /** @throws TamperedError when the root key is not wrapped with this one. */
  check(kek: Buffer, row: VaultRow): void;
  /** Opens the root key. The keyring keeps `kek` to wrap the next root key. @throws TamperedError for a wrong `kek`. */
  open(kek: Buffer, row: VaultRow): void;
  seal(): void;
  /** Wraps a key for storage, in the transaction that stores it. Replaces the root key first when that is used up. */
  wrap(tx: Transaction, purpose: Purpose, key: Buffer, context: Context): Promise<WrappedKey>;
  /** The same without counting, for a rotation, which is counted as a whole. */
  rewrap(purpose: Purpose, key: Buffer, generation: number, context: Context): Buffer;
  unwrap(purpose: Purpose, wrapped: WrappedKey, context: Context): Buffer;
  /** For keyed digests of rows that contain no secret but must not be forged. */
  keyOf(generation: number, purpose: Purpose): Buffer;
  /** Replaces the root key. Data keys are wrapped again; data is unchanged. */
  rotate(tx: Transaction): Promise<Rotated>;
  /** Registers how to wrap the keys of one part of the vault with the next root key. */
  onRotate(rewrap: Rewrap): void;
  /** Wraps the root key with the key of another passphrase, for `useKek`. */
  rekey(kek: Buffer, row: VaultRow, next: VaultRow): Buffer;
  /** Takes over the key of the new passphrase. Must be called after the result of `rekey` is stored. */
  useKek(kek: Buffer): void;
};

type OpenKeys = { vaultId: string; kek: Buffer; roots: Map<number, PurposeKeys> };
type Ring = { open: OpenKeys | null; rewraps: Rewrap[] };

export function createKeyring({ maxUses = mostUses }: { maxUses?: number } = {}): Keyring {
  const ring: Ring = { open: null, rewraps: [] };

  return {
    isSealed: () => ring.open === null,
    assertOpen: () => void keysIn(ring),
    check: (kek, row) => void open(kek, row.wrapped_root, rootContext(row)).fill(0),
    open(kek, row) {
      const root = open(kek, row.wrapped_root, rootContext(row));
      ring.open = { vaultId: row.vault_id, kek, roots: new Map() };
      addRoot(ring, row.generation, root);
    },
    seal() {
      if (ring.open === null) return;
      wipe(ring.open.roots, Infinity);
      ring.open.kek.fill(0);
      ring.open = null;
    },
    async wrap(tx, purpose, key, context) {
      let { generation } = await theRow(tx);
      // Nothing that is committed needs older root keys any more.
      wipe(keysIn(ring).roots, generation);
      const used = await tx.run('UPDATE vault SET uses = uses + 1 WHERE id = 1 AND uses < ?', maxUses);
      if (used === 0) {
        generation = (await rotate(ring, tx)).generation;
        await tx.run('UPDATE vault SET uses = uses + 1 WHERE id = 1');
      }
      return { generation, wrapped_key: seal(keyOf(ring, generation, purpose), key, context) };
    },
    rewrap: (purpose, key, generation, context) => seal(keyOf(ring, generation, purpose), key, context),
    unwrap: (purpose, { generation, wrapped_key }, context) => open(keyOf(ring, generation, purpose), wrapped_key, context),
    keyOf: (generation, purpose) => keyOf(ring, generation, purpose),
    rotate: (tx) => rotate(ring, tx),
    onRotate: (rewrap) => void ring.rewraps.push(rewrap),
    rekey(kek, row, next) {
      const root = open(keysIn(ring).kek, row.wrapped_root, rootContext(row));
      const wrapped = seal(kek, root, rootContext(next));
      root.fill(0);
      return wrapped;
    },
    useKek(kek) {
      const keys = keysIn(ring);
      keys.kek.fill(0);
      keys.kek = kek;
    },
  };
}

function keysIn(ring: Ring): OpenKeys {
  if (ring.open === null) throw sealed();
  return ring.open;
}

function keyOf(ring: Ring, generation: number, purpose: Purpose): Buffer {
  const root = keysIn(ring).roots.get(generation);
  if (root === undefined) throw new Error(`there is no root key of generation ${generation}`);
  return root[purpose];
}

/** Overwrites the root key itself: only the keys derived from it are used. */
function addRoot(ring: Ring, generation: number, root: Buffer): void {
  const { vaultId, roots } = keysIn(ring);
  roots.set(generation, purposeKeys(root, vaultId));
  root.fill(0);
}

function wipe(roots: Map<number, PurposeKeys>, below: number): void {
  for (const [generation, root] of roots) {
    if (generation >= below) continue;
    for (const purpose of purposes) root[purpose].fill(0);
    roots.delete(generation);
  }
}

async function rotate(ring: Ring, tx: Transaction): Promise<Rotated> {
  const row = await theRow(tx);
  // Read after the wait, because sealing in between would overwrite it.
  const { kek } = keysIn(ring);
  // Checks that the passphrase gives this key. Otherwise the new root key would be lost at the next seal, and everything with it.
  open(kek, row.wrapped_root, rootContext(row)).fill(0);
  const next = { ...row, generation: row.generation + 1 };
  const root = randomBytes(keyBytes);
  const wrapped = seal(kek, root, rootContext(next));
  addRoot(ring, next.generation, root);
  let rewrapped = 0;
  for (const rewrap of ring.rewraps) rewrapped += await rewrap(tx, row.generation, next.generation);
  const sql = 'UPDATE vault SET wrapped_root = ?, generation = ?, uses = ?, rotated_at = ? WHERE id = 1';
  await tx.run(sql, wrapped, next.generation, rewrapped, Date.now());
  return { generation: next.generation, rewrapped };
}

/** The error of every request that needs a key while the vault is sealed. */
export const sealed = (): ServiceError =>
  new ServiceError('unavailable', 'The vault is sealed. Open it: ./svc vault unseal', { details: { sealed: true } });

async function theRow(tx: Transaction): Promise<VaultRow> {
  const row = await readVaultRow(tx);
  if (row === undefined) throw unavailable('The vault is not set up. Set it up: ./svc vault init');
  return row;
}

const purposeKeys = (root: Buffer, vaultId: string): PurposeKeys => ({
  credentials: purposeKey(root, vaultId, 'credentials'),
  silos: purposeKey(root, vaultId, 'silos'),
  agents: purposeKey(root, vaultId, 'agents'),
  inventory: purposeKey(root, vaultId, 'inventory'),
});

/** The purposes of the keys derived from the root key. None opens what another has sealed. */
const purposes = ['credentials', 'silos', 'agents', 'inventory'] as const;
type Purpose = (typeof purposes)[number];

/** The key for one purpose, derived from the root key. The root key itself encrypts nothing. */
const purposeKey = (root: Buffer, vaultId: string, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', root, vaultId, `svc-vault/1 ${purpose}`, keyBytes));
