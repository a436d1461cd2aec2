import type { VaultState } from '@svc/contract/vault.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import type { VaultSettings } from '@svc/service-kit/config/process-settings.ts';
import { createHub, type Hub } from '@svc/service-kit/hub.ts';
import { randomIds, type Ids } from '@svc/service-kit/ids.ts';
import type { ServiceContext } from '@svc/service-kit/run-service.ts';
import type { Database } from '@svc/store/database.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { createAccessLog, type AccessLog } from './access/access-log.ts';
import { listAgents } from './agent/agent-store.ts';
import { createAgents, listedAgent, type Agents } from './agent/agents.ts';
import { allCredentials } from './credential/credential-store.ts';
import { createCredentials, listedCredential, type Credentials } from './credential/credentials.ts';
import { calibrateCost, type KdfCost } from './crypto/passphrase-key.ts';
import { openVaultDb } from './db/open-vault-db.ts';
import { createInventory, type Inventory, type Listed } from './keyring/inventory.ts';
import { createKeyring, type Keyring } from './keyring/keyring.ts';
import { createLifecycle, type Lifecycle } from './keyring/lifecycle.ts';
import { createAdminAuth, type AdminAuth } from './seal/admin-auth.ts';
import { allSiloKeys, createSiloKeys, listedSiloKey, type SiloKeys } from './silo/silo-keys.ts';
import { createTokenExchange, type TokenExchange } from './token/token-exchange.ts';
import { createProxyTokens } from './token/proxy-tokens.ts';

/** Everything the vault is made of. */
export type VaultContext = Omit<ServiceContext, 'settings'> & {
  settings: VaultSettings;
  db: SqliteDatabase;
  keyring: Keyring;
  inventory: Inventory;
  accessLog: AccessLog;
  credentials: Credentials;
  agents: Agents;
  siloKeys: SiloKeys;
  tokenExchange: TokenExchange;
  lifecycle: Lifecycle;
  adminAuth: AdminAuth;
  /** Published when the vault is opened or sealed. */
  stateChanges: Hub<VaultState>;
  clock: Clock;
  /** Seals it. */
  close(): Promise<void>;
};

export type VaultOptions = ServiceContext & {
  clock?: Clock;
  ids?: Ids;
  calibrate?: () => Promise<KdfCost>;
  /** How often a key may be used; for tests. */
  maxUses?: number;
};

/** The vault as it is after a start: sealed. */
export async function createVaultContext(options: VaultOptions): Promise<VaultContext> {
  const { log, version, clock = systemClock, ids = randomIds, calibrate = calibrateCost, maxUses } = options;
  const settings: VaultSettings = options.settings;
  makePrivateDir(settings.dataDir);
  const db = openVaultDb(dataPaths(settings.dataDir).vaultDb);
  const keyring = createKeyring({ maxUses });
  // Created before everything that it lists, because it has to change to a new root key first.
  const inventory = createInventory(keyring);
  const accessLog = createAccessLog(db, clock, log);
  await accessLog.prune();
  const proxyTokens = createProxyTokens(clock);
  const stateChanges = createHub<VaultState>((error) => log.error({ err: error }, 'a client that watches the vault failed'));
  const credentials = createCredentials({ db, clock, keyring, inventory, accessLog });
  const adminKey = settings.vaultAdminKey;
  return {
    settings,
    log,
    version,
    db,
    keyring,
    inventory,
    accessLog,
    credentials,
    agents: createAgents({ db, clock, ids, keyring, inventory, accessLog }),
    siloKeys: createSiloKeys({ clock, keyring, inventory, accessLog, maxUses }),
    tokenExchange: createTokenExchange({ credentials, proxyTokens, accessLog }),
    lifecycle: createLifecycle({
      db,
      clock,
      keyring,
      accessLog,
      adminKey,
      calibrate,
      takeStock: async (tx) => inventory.record(tx, await allRows(tx)),
      examine: async () => db.transaction(async (tx) => inventory.examine(tx, await allRows(tx))),
      onChange(isSealed) {
        if (isSealed) proxyTokens.clear();
        stateChanges.publish({ initialized: true, sealed: isSealed });
      },
    }),
    adminAuth: createAdminAuth(db, adminKey),
    stateChanges,
    clock,
    async close() {
      keyring.seal();
      proxyTokens.clear();
      accessLog.close();
      await db.close();
    },
  };
}

/** Everything that the inventory lists. */
const allRows = async (db: Database): Promise<Listed[]> => [
  ...(await listAgents(db)).map(listedAgent),
  ...(await allCredentials(db)).map(listedCredential),
  ...(await allSiloKeys(db)).map(listedSiloKey),
];
