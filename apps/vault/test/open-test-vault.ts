import type { OutgoingHttpHeaders } from 'node:http';
import type { Tier } from '@svc/contract/trust.ts';
import type { VaultAgentRegistered, VaultInitialized, VaultToken, VaultValue } from '@svc/contract/vault.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createVaultApp } from '../src/app.ts';
import { createVaultContext, type VaultContext } from '../src/context.ts';

export const passphrase = 'correct horse battery staple';
/** As little work as argon2id allows: what it really costs has a test of its own. */
export const cheap = { memory: 8, passes: 1, parallelism: 1 };

type Options = { folder?: TemporaryFolder; env?: Record<string, string>; maxUses?: number };

type Headers = Record<string, string>;
type Answer = { status: number; headers: OutgoingHttpHeaders; text: string; body: Record<string, unknown> };

/** A vault in this process: no port, a folder of its own, a clock that the test moves. */
export type TestVault = {
  context: VaultContext;
  app: App;
  clock: FakeClock;
  folder: TemporaryFolder;
  dataDir: string;
  /** `route` as `POST /v1/init`; with the admin key unless headers are given. */
  ask(route: string, payload?: object, headers?: Headers): Promise<Answer>;
  /** The same for what has to succeed. */
  good<T>(route: string, payload?: object, headers?: Headers): Promise<T>;
  bearer(key: string): { authorization: string };
  adminKey(): string;
  useAdminKey(key: string): void;
  init(): Promise<void>;
  unseal(text?: string): Promise<Answer>;
  /** Registers an agent and gives its key. */
  register(name: string, tier: Tier): Promise<string>;
  put(name: string, value: string, min_trust?: Tier): Promise<Answer>;
  token(key: string, name: string, tier?: Tier): Promise<Answer>;
  redeem(key: string, token: string): Promise<Answer>;
  /** Both steps in which an agent gets a secret. */
  read(key: string, name: string): Promise<string>;
  /** Ends the vault and leaves its folder. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

export async function openTestVault({ folder = temporaryFolder(), env = {}, maxUses }: Options = {}): Promise<TestVault> {
  const dir = folder.path;
  const settings = loadSettings(repositoryRoot, { SVC_DATA_DIR: dir, SVC_LOG_LEVEL: 'silent', ...env });
  const clock = createFakeClock();
  const log = createLog('vault', 'silent');
  const version = readVersion(repositoryRoot, 'vault', () => 'stable');
  const context = await createVaultContext({ settings, log, version, clock, calibrate: async () => cheap, maxUses });
  context.db.raw.exec('PRAGMA synchronous=OFF'); // no machine loses its power here
  const app = createVaultApp(context);
  let adminKey = env['SVC_VAULT_ADMIN_KEY'] ?? '';

  const ask = async (route: string, payload?: object, headers: Headers = { 'x-admin-key': adminKey }): Promise<Answer> => {
    const [method, url] = route.split(' ') as ['GET' | 'POST' | 'DELETE', string];
    const answer = await app.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      body: answer.json<Record<string, unknown>>(),
    };
  };
  const good = async <T>(route: string, payload?: object, headers?: Headers): Promise<T> => {
    const { status, body, text } = await ask(route, payload, headers);
    if (status !== 200) throw new Error(`${route}: ${status} ${text}`);
    return body as T;
  };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

  const stop = async () => {
    await app.close();
    await context.close();
  };

  return {
    context,
    app,
    clock,
    folder,
    stop,
    dataDir: dir,
    ask,
    good,
    bearer,
    adminKey: () => adminKey,
    useAdminKey: (key) => void (adminKey = key),
    async init() {
      const { admin_key } = await good<VaultInitialized>('POST /v1/init', { passphrase });
      adminKey = admin_key ?? adminKey;
    },
    unseal: (text = passphrase) => ask('POST /v1/unseal', { passphrase: text }),
    register: async (name, tier) => (await good<VaultAgentRegistered>('POST /v1/agents', { name, tier })).key,
    put: (name, value, min_trust = 'SACRED') => ask('POST /v1/credentials', { name, value, min_trust }),
    token: (key, name, tier) => ask('POST /v1/tokens', { name, ...(tier && { tier }) }, bearer(key)),
    redeem: (key, token) => ask('POST /v1/redeem', { token }, bearer(key)),
    async read(key, name) {
      const { token } = await good<VaultToken>('POST /v1/tokens', { name }, bearer(key));
      return (await good<VaultValue>('POST /v1/redeem', { token }, bearer(key))).value;
    },
    async close() {
      await stop();
      folder.remove();
    },
  };
}

/** Ends a vault and starts another one on its file. */
export async function restartTestVault(vault: TestVault): Promise<TestVault> {
  await vault.stop();
  const next = await openTestVault({ folder: vault.folder });
  next.useAdminKey(vault.adminKey());
  return next;
}
