import { randomBytes, randomUUID } from 'node:crypto';
import type { VaultState } from '@svc/contract/vault.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { badRequest, conflict, forbidden, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { AccessLog } from '../access/access-log.ts';
import { hashAccessKey, newAccessKey } from '../crypto/access-key.ts';
import { keyBytes, seal, TamperedError } from '../crypto/aead.ts';
import { newSalt, passphraseKey, type KdfCost, type KdfParameters } from '../crypto/passphrase-key.ts';
import { waitMs } from './back-off.ts';
import type { Keyring } from './keyring.ts';
import { readVaultRow, rootContext, type VaultRow } from './vault-row.ts';

type Deps = {
  db: Database;
  clock: Clock;
  keyring: Keyring;
  accessLog: AccessLog;
  /** The operator's own admin key; null: one is made. */
  adminKey: Secret | null;
  /** What deriving a key of a new passphrase costs. */
  calibrate: () => Promise<KdfCost>;
  /** Lists, in a transaction, the rows of a vault that was made before there was an inventory. */
  takeStock: (tx: Transaction) => Promise<void>;
  /** Looks through all rows for what something else than the vault has changed. */
  examine: () => Promise<void>;
  /** Called when the vault was sealed. */
  onSeal: () => void;
};

export const leastPassphrase = 12;
const currentFormat = 2;

/** The states of the vault: not set up, sealed, open. A passphrase is never kept; while open, the key made of it is. */
export function createLifecycle({ db, clock, keyring, accessLog, adminKey, calibrate, takeStock, examine, onSeal }: Deps) {
  // One at a time: each takes a processor and 128 MiB for a while.
  let isDeriving = false;
  let sealings = 0;

  const deriveAlone = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isDeriving) throw tryLater('Another passphrase is being tried just now.', 1000);
    isDeriving = true;
    try {
      return await work();
    } finally {
      isDeriving = false;
    }
  };

  /** The key of the right passphrase. Every try is counted before it is made, so that ending the process spares none. */
  const kekOf = async (passphrase: string, row: VaultRow): Promise<Buffer> => {
    const wait = waitMs(row.failed_unseals, row.failed_at, clock.now());
    if (wait > 0) throw tryLater(`Wrong passphrases in a row: ${row.failed_unseals}.`, wait);
    await db.run('UPDATE vault SET failed_unseals = failed_unseals + 1, failed_at = ? WHERE id = 1', clock.now());
    // The cast: we wrote it, and it is bound to the wrapped root key.
    return passphraseKey(passphrase, JSON.parse(row.kdf) as KdfParameters);
  };

  /** Once in the life of a vault. The root key is bound to the inventory, so that nobody gets rid of the one without the other. */
  const upgrade = (kek: Buffer): Promise<void> =>
    accessLog.during({ actor: 'admin', action: 'upgrade', target: null }, async (tx) => {
      const row = await theRow(tx);
      const next = { ...row, format: currentFormat };
      await takeStock(tx);
      const wrapped = keyring.rekey(kek, row, next);
      await tx.run('UPDATE vault SET wrapped_root = ?, format = ? WHERE id = 1', wrapped, currentFormat);
    });

  /** What the first moments of an open vault are for. One in which they fail is not open. */
  const begin = async (kek: Buffer, { format }: VaultRow): Promise<void> => {
    try {
      if (format < currentFormat) await upgrade(kek);
      await examine();
    } catch (error) {
      keyring.seal();
      throw error;
    }
  };

  const newKdf = async (): Promise<KdfParameters> => ({ ...(await calibrate()), salt: newSalt() });

  return {
    async state(): Promise<VaultState> {
      return { initialized: (await readVaultRow(db)) !== undefined, sealed: keyring.isSealed() };
    },

    /** Makes the vault and opens it. Gives the admin key that was made for it, if one was. */
    init: (passphrase: string): Promise<string | null> =>
      deriveAlone(async () => {
        checkPassphrase(passphrase);
        if ((await readVaultRow(db)) !== undefined) throw conflict('The vault is set up already.');
        const adminText = adminKey?.reveal() ?? newAccessKey('vadmin');
        const kdf = await newKdf();
        const kek = await passphraseKey(passphrase, kdf);
        const row = newRow(kdf, hashAccessKey(adminText));
        const root = randomBytes(keyBytes);
        row.wrapped_root = seal(kek, root, rootContext(row));
        root.fill(0);
        await accessLog.during({ actor: 'admin', action: 'init', target: null }, (tx) => insertRow(tx, row, clock.now()));
        keyring.open(kek, row);
        return adminKey === null ? adminText : null;
      }),

    /** Opens the vault; nothing happens when it is open. @throws ServiceError `forbidden`, `busy` while it has to wait. */
    unseal: (passphrase: string): Promise<void> =>
      deriveAlone(async () => {
        if (!keyring.isSealed()) return;
        const before = sealings;
        const row = await theRow(db);
        await handOver(await kekOf(passphrase, row), async (kek) => {
          await accessLog.during({ actor: 'admin', action: 'unseal', target: null }, async (tx) => {
            checkKek(keyring, kek, row);
            await tx.run('UPDATE vault SET failed_unseals = 0 WHERE id = 1');
          });
          const assertUnsealing = () => {
            if (sealings !== before) throw conflict('The vault was sealed meanwhile.');
          };
          assertUnsealing();
          keyring.open(kek, row);
          await begin(kek, row);
          assertUnsealing();
        });
      }),

    /** Forgets all keys, at once and whatever else happens; then it is put on record. */
    async seal(): Promise<void> {
      sealings++;
      keyring.seal();
      onSeal();
      await accessLog.during({ actor: 'admin', action: 'seal', target: null }, () => Promise.resolve());
    },

    /** A new root key. Needs no passphrase: the ring has its key. */
    rotate: (): Promise<{ generation: number; rewrapped: number }> =>
      accessLog.during({ actor: 'admin', action: 'rotate', target: null }, (tx) => keyring.rotate(tx)),

    /** Another passphrase for the same root key. @throws ServiceError `forbidden` when the old one is wrong. */
    changePassphrase: (old: string, next: string): Promise<void> =>
      deriveAlone(async () => {
        checkPassphrase(next);
        keyring.assertOpen();
        const oldKek = await kekOf(old, await theRow(db));
        const kdf = await newKdf();
        await handOver(await passphraseKey(next, kdf), async (kek) => {
          await accessLog
            .during({ actor: 'admin', action: 'change-passphrase', target: null }, async (tx) => {
              // Read again: the root key may have been replaced meanwhile.
              const row = await theRow(tx);
              checkKek(keyring, oldKek, row);
              const changed = { ...row, kdf: JSON.stringify(kdf) };
              const wrapped = keyring.rekey(kek, row, changed);
              await tx.run('UPDATE vault SET kdf = ?, wrapped_root = ?, failed_unseals = 0 WHERE id = 1', changed.kdf, wrapped);
            })
            .finally(() => oldKek.fill(0));
          keyring.useKek(kek);
        });
      }),
  };
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** A key that the ring did not take is overwritten: it may open the vault. */
async function handOver(kek: Buffer, take: (kek: Buffer) => Promise<void>): Promise<void> {
  try {
    await take(kek);
  } catch (error) {
    kek.fill(0);
    throw error;
  }
}

function checkPassphrase(passphrase: string): void {
  if (passphrase.length >= leastPassphrase) return;
  throw badRequest(`A passphrase has at least ${leastPassphrase} characters; six random words are good.`);
}

/** The wrapped root key tells whether the key is the right one. */
function checkKek(keyring: Keyring, kek: Buffer, row: VaultRow): void {
  try {
    keyring.check(kek, row);
  } catch (error) {
    if (!(error instanceof TamperedError)) throw error;
    throw forbidden("The passphrase is wrong, or the vault's file was changed by something else.");
  }
}

async function theRow(db: Pick<Database, 'get'>): Promise<VaultRow> {
  const row = await readVaultRow(db);
  if (row === undefined) throw conflict('The vault is not set up. Do it with: ./svc vault init');
  return row;
}

const newRow = (kdf: KdfParameters, adminHash: Buffer): VaultRow => ({
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

const insertRow = (tx: Transaction, row: VaultRow, now: number): Promise<number> =>
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

const tryLater = (why: string, ms: number): ServiceError => {
  const seconds = Math.ceil(ms / 1000);
  return new ServiceError('busy', `${why} Try again in ${seconds} s.`, { details: { retry_after_s: seconds } });
};
