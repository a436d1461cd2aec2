import { randomBytes } from 'node:crypto';
import { leastPassphraseLength, type VaultState } from '@svc/contract/vault.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { badRequest, conflict, forbidden } from '@svc/service-kit/service-error.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { AccessLog } from '../access/access-log.ts';
import { hashAccessKey, newAccessKey } from '../crypto/access-key.ts';
import { keyBytes, seal, TamperedError } from '../crypto/aead.ts';
import { newSalt, passphraseKey, type KdfCost, type KdfParameters } from '../crypto/passphrase-key.ts';
import type { Keyring, Rotated } from './keyring.ts';
import { createPassphraseTries, type PassphraseTries } from './passphrase-tries.ts';
import { currentFormat, insertVaultRow, newVaultRow, readVaultRow, rootContext, type VaultRow } from './vault-row.ts';

type Deps = {
  db: Database;
  clock: Clock;
  keyring: Keyring;
  accessLog: AccessLog;
  /** The operator's own admin key; null to generate one. */
  adminKey: Secret | null;
  /** The cost of deriving a key from a new passphrase. */
  calibrate: () => Promise<KdfCost>;
  /** Records, in a transaction, the rows of a vault that is older than the inventory. */
  takeStock: (tx: Transaction) => Promise<void>;
  /** Checks all rows for changes that the vault did not make. */
  examine: () => Promise<void>;
  /** Called when the vault was opened, and when it was sealed. */
  onChange: (isSealed: boolean) => void;
};

/** The states of the vault: not set up, sealed, open. A passphrase is never kept; while the vault is open, the key derived from it is. */
export type Lifecycle = {
  state(): Promise<VaultState>;
  /** Creates the vault and opens it. Returns the admin key if one was generated, else null. */
  init(passphrase: string): Promise<string | null>;
  /** Opens the vault; does nothing if it is open. @throws ServiceError `forbidden`, `busy` while it has to wait. */
  unseal(passphrase: string): Promise<void>;
  /** Forgets all keys at once, whatever else fails; then records it. */
  seal(): Promise<void>;
  /** Replaces the root key. Needs no passphrase, because the keyring has its key. */
  rotate(): Promise<Rotated>;
  /** Changes the passphrase; the root key stays. @throws ServiceError `forbidden` when the old one is wrong. */
  changePassphrase(old: string, next: string): Promise<void>;
};

type Vault = Deps & { tries: PassphraseTries; /** How often it was sealed. */ sealings: number };

export function createLifecycle(deps: Deps): Lifecycle {
  const { db, clock, keyring, accessLog, onChange } = deps;
  const vault: Vault = { ...deps, tries: createPassphraseTries(db, clock), sealings: 0 };
  const { tries } = vault;

  return {
    state: async () => ({ initialized: (await readVaultRow(db)) !== undefined, sealed: keyring.isSealed() }),
    init: (passphrase) => tries.alone(() => init(vault, passphrase)),
    unseal: (passphrase) => tries.alone(() => unseal(vault, passphrase)),
    async seal() {
      vault.sealings++;
      keyring.seal();
      onChange(true);
      await accessLog.during({ actor: 'admin', action: 'seal', target: null }, () => Promise.resolve());
    },
    rotate: () => accessLog.during({ actor: 'admin', action: 'rotate', target: null }, (tx) => keyring.rotate(tx)),
    changePassphrase: (old, next) => tries.alone(() => changePassphrase(vault, old, next)),
  };
}

async function init(vault: Vault, passphrase: string): Promise<string | null> {
  const { db, clock, keyring, accessLog, adminKey, calibrate, onChange } = vault;
  checkPassphrase(passphrase);
  if ((await readVaultRow(db)) !== undefined) throw conflict('The vault is set up already.');
  const adminText = adminKey?.reveal() ?? newAccessKey('vadmin');
  const kdf = await newKdf(calibrate);
  const kek = await passphraseKey(passphrase, kdf);
  const row = newVaultRow(kdf, hashAccessKey(adminText));
  const root = randomBytes(keyBytes);
  row.wrapped_root = seal(kek, root, rootContext(row));
  root.fill(0);
  await accessLog.during({ actor: 'admin', action: 'init', target: null }, (tx) => insertVaultRow(tx, row, clock.now()));
  keyring.open(kek, row);
  onChange(false);
  return adminKey === null ? adminText : null;
}

async function unseal(vault: Vault, passphrase: string): Promise<void> {
  const { db, keyring, accessLog, tries, sealings, onChange } = vault;
  if (!keyring.isSealed()) return;
  const row = await theRow(db);
  await handOver(await tries.keyOf(passphrase, row), async (kek) => {
    await accessLog.during({ actor: 'admin', action: 'unseal', target: null }, async (tx) => {
      checkKek(keyring, kek, row);
      await tx.run('UPDATE vault SET failed_unseals = 0 WHERE id = 1');
    });
    const assertUnsealing = () => {
      if (vault.sealings !== sealings) throw conflict('The vault was sealed in the meantime.');
    };
    assertUnsealing();
    keyring.open(kek, row);
    await begin(vault, kek, row);
    assertUnsealing();
    onChange(false);
  });
}

/** Upgrades and checks a vault that was just opened. If this fails, the vault is sealed again. */
async function begin(vault: Vault, kek: Buffer, { format }: VaultRow): Promise<void> {
  try {
    if (format < currentFormat) await upgrade(vault, kek);
    await vault.examine();
  } catch (error) {
    vault.keyring.seal();
    throw error;
  }
}

/** Runs once for an older vault. Binds the root key to the format with an inventory, so that the inventory cannot be removed. */
const upgrade = ({ keyring, accessLog, takeStock }: Vault, kek: Buffer): Promise<void> =>
  accessLog.during({ actor: 'admin', action: 'upgrade', target: null }, async (tx) => {
    const row = await theRow(tx);
    const next = { ...row, format: currentFormat };
    await takeStock(tx);
    const wrapped = keyring.rekey(kek, row, next);
    await tx.run('UPDATE vault SET wrapped_root = ?, format = ? WHERE id = 1', wrapped, currentFormat);
  });

async function changePassphrase(vault: Vault, old: string, next: string): Promise<void> {
  const { db, keyring, accessLog, calibrate, tries } = vault;
  checkPassphrase(next);
  keyring.assertOpen();
  const oldKek = await tries.keyOf(old, await theRow(db));
  const kdf = await newKdf(calibrate);
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
}

const newKdf = async (calibrate: Deps['calibrate']): Promise<KdfParameters> => ({ ...(await calibrate()), salt: newSalt() });

/** Overwrites a key that the keyring did not take over, because it may open the vault. */
async function handOver(kek: Buffer, take: (kek: Buffer) => Promise<void>): Promise<void> {
  try {
    await take(kek);
  } catch (error) {
    kek.fill(0);
    throw error;
  }
}

function checkPassphrase(passphrase: string): void {
  if (passphrase.length >= leastPassphraseLength) return;
  throw badRequest(`A passphrase needs at least ${leastPassphraseLength} characters; six random words work well.`);
}

/** The key is right if it opens the wrapped root key. */
function checkKek(keyring: Keyring, kek: Buffer, row: VaultRow): void {
  try {
    keyring.check(kek, row);
  } catch (error) {
    if (!(error instanceof TamperedError)) throw error;
    throw forbidden("The passphrase is wrong, or the vault's file was changed by something other than the vault.");
  }
}

async function theRow(db: Pick<Database, 'get'>): Promise<VaultRow> {
  const row = await readVaultRow(db);
  if (row === undefined) throw conflict('The vault is not set up. Set it up: ./svc vault init');
  return row;
}
