import type { Tier } from '@svc/contract/trust.ts';
import {
  vaultNamePattern,
  type VaultAccess,
  type VaultAgent,
  type VaultAgentRegistered,
  type VaultCredential,
  type VaultDataKey,
  type VaultPlainKey,
  type VaultRotated,
  type VaultState,
  type VaultToken,
  type VaultValue,
  type VaultWrappedKey,
} from '@svc/contract/vault.ts';
import { systemClock, type Clock } from '../clock.ts';
import { Secret } from '../secret.ts';
import { ServiceError, unavailable } from '../service-error.ts';
import type { Settings } from '../config/settings.ts';
import { callVault, type VaultReply, type VaultRequest } from './vault-call.ts';
import { watchVault } from './watch-vault.ts';

export type VaultAnswer =
  | { is: 'value'; value: Secret }
  | { is: 'not-found' }
  /** The vault refuses it, so no other place may be asked for it. */
  | { is: 'denied'; why: string }
  /** The vault cannot answer at the moment, so other places may be asked. */
  | { is: 'unreachable'; why: string }
  | { is: 'sealed' };

const isName = new RegExp(vaultNamePattern);

type Options = { url: string; agentKey: Secret; adminKey: Secret | null; timeoutMs?: number; clock?: Clock };

/** Reports the state of the vault, at first and at every change, until the returned function is called; null while unreachable. */
export type WatchVault = (onState: (state: VaultState | null) => void) => () => void;

/** The vault's client. All methods but `get` and `status` throw a `ServiceError` when it refuses or is unreachable. */
export type VaultClient = {
  /** Gets a secret for a caller of a tier. Never rejects. */
  get(name: string, callerTier: Tier): Promise<VaultAnswer>;
  /** Its state; null when it does not answer in time. */
  status(): Promise<VaultState | null>;
  watch: WatchVault;
  /** The metadata of all credentials. */
  list(): Promise<VaultCredential[]>;
  /** Unseals it; does nothing when it is unsealed already. */
  unseal(passphrase: Secret): Promise<void>;
  seal(): Promise<void>;
  rotate(): Promise<VaultRotated>;
  changePassphrase(now: Secret, next: Secret): Promise<void>;
  /** The newest entries of its access log. `before`: the id of the entry to continue from. */
  access(limit: number, before: number): Promise<VaultAccess[]>;
  /** All agents, removed ones included. */
  agents(): Promise<VaultAgent[]>;
  /** The agent of this process; null when the vault does not know its key. */
  self(): Promise<VaultAgent | null>;
  /** Registers an agent, which may then get secrets up to its tier. Its key cannot be read again. */
  addAgent(name: string, tier: Tier): Promise<{ agent: VaultAgent; key: Secret }>;
  /** Revokes the key of an agent. */
  removeAgent(name: string): Promise<VaultAgent>;
  /** Stores a value, or replaces it. */
  put(name: string, value: Secret, minTrust: Tier): Promise<VaultCredential>;
  /** False when it had no credential of that name. */
  remove(name: string): Promise<boolean>;
  /** Creates a data key for a silo: the plain key to use now, and the wrapped one to store. */
  generateSiloKey(silo: string): Promise<{ key: Buffer; wrapped: string }>;
  wrapSiloKey(silo: string, key: Buffer): Promise<string>;
  unwrapSiloKey(silo: string, wrapped: string): Promise<Buffer>;
};

/** Deriving a key from a passphrase is slow on purpose. */
const derivingMs = 30_000;

/** Each request is bounded by `timeoutMs`; `get` makes two, and `unseal` waits longer. */
export function createVaultClient({ url, agentKey, adminKey, timeoutMs = 2000, clock = systemClock }: Options): VaultClient {
  const asAgent = <T>(path: string, body: object) => callVault<T>(`${url}/v1/${path}`, { body, agentKey, timeoutMs });
  const asAdmin = async <T>(path: string, request: Partial<VaultRequest> = {}): Promise<T> => {
    if (adminKey === null)
      throw new ServiceError('conflict', 'This requires the admin key of the vault. Set SVC_VAULT_ADMIN_KEY.');
    return orThrow(await callVault<T>(`${url}/v1/${path}`, { timeoutMs, ...request, adminKey }));
  };

  return {
    async get(name, callerTier) {
      // A credential cannot have such a name.
      if (!isName.test(name)) return { is: 'not-found' };
      const issued = await asAgent<VaultToken>('tokens', { name, tier: callerTier });
      if (issued.is !== 'ok') return toAnswer(issued);
      const redeemed = await asAgent<VaultValue>('redeem', { token: issued.body.token });
      return redeemed.is === 'ok' ? { is: 'value', value: new Secret(redeemed.body.value) } : toAnswer(redeemed);
    },

    async status() {
      const reply = await callVault<VaultState>(`${url}/v1/status`, { timeoutMs });
      return reply.is === 'ok' && typeof reply.body.sealed === 'boolean' ? reply.body : null;
    },

    watch: (onState) => watchVault({ url, clock, onState }),

    list: async () => (await asAdmin<{ credentials: VaultCredential[] }>('credentials')).credentials,

    unseal: async (passphrase) =>
      void (await asAdmin('unseal', { body: { passphrase: passphrase.reveal() }, timeoutMs: derivingMs })),

    seal: async () => void (await asAdmin('seal', { method: 'POST' })),

    rotate: () => asAdmin<VaultRotated>('rotate', { method: 'POST', timeoutMs: derivingMs }),

    async changePassphrase(now, next) {
      const body = { passphrase: now.reveal(), new_passphrase: next.reveal() };
      await asAdmin('passphrase', { body, timeoutMs: derivingMs });
    },

    access: async (limit, before) => (await asAdmin<{ access: VaultAccess[] }>(`access?limit=${limit}&before=${before}`)).access,

    agents: async () => (await asAdmin<{ agents: VaultAgent[] }>('agents')).agents,

    async self() {
      const reply = await callVault<{ agent: VaultAgent }>(`${url}/v1/agents/self`, { agentKey, timeoutMs });
      return reply.is === 'refused' && reply.error.error === 'unauthorized' ? null : orThrow(reply).agent;
    },

    async addAgent(name, tier) {
      const { agent, key } = await asAdmin<VaultAgentRegistered>('agents', { body: { name, tier } });
      return { agent, key: new Secret(key) };
    },

    removeAgent: async (name) =>
      (await asAdmin<{ agent: VaultAgent }>(`agents/${encodeURIComponent(name)}`, { method: 'DELETE' })).agent,

    put: async (name, value, minTrust) =>
      (
        await asAdmin<{ credential: VaultCredential }>('credentials', {
          body: { name, value: value.reveal(), min_trust: minTrust },
        })
      ).credential,

    async remove(name) {
      if (!isName.test(name)) return false;
      try {
        await asAdmin(`credentials/${encodeURIComponent(name)}`, { method: 'DELETE' });
        return true;
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'not_found') return false;
        throw error;
      }
    },

    async generateSiloKey(silo) {
      const { key, wrapped } = orThrow(await asAgent<VaultDataKey>('silos/generate', { silo }));
      return { key: Buffer.from(key, 'base64'), wrapped };
    },

    wrapSiloKey: async (silo, key) =>
      orThrow(await asAgent<VaultWrappedKey>('silos/wrap', { silo, key: key.toString('base64') })).wrapped,

    unwrapSiloKey: async (silo, wrapped) =>
      Buffer.from(orThrow(await asAgent<VaultPlainKey>('silos/unwrap', { silo, wrapped })).key, 'base64'),
  };
}

function toAnswer(reply: Exclude<VaultReply<unknown>, { is: 'ok' }>): VaultAnswer {
  if (reply.is === 'unreachable') return reply;
  const { status, error } = reply;
  if (error['sealed'] === true) return { is: 'sealed' };
  if (error.error === 'not_found') return { is: 'not-found' };
  // A fault of the vault itself, such as a full disk, is no decision about access.
  return status === 429 || status >= 500 ? { is: 'unreachable', why: error.message } : { is: 'denied', why: error.message };
}

function orThrow<T>(reply: VaultReply<T>): T {
  if (reply.is === 'ok') return reply.body;
  if (reply.is === 'unreachable') throw unavailable(`The vault cannot be reached: ${reply.why}.`);
  const { error, message } = reply.error;
  // Its 401 concerns the key of this service, not the caller of this service.
  throw error === 'unauthorized'
    ? new ServiceError('conflict', `The vault does not know the key of this service. ${message}`)
    : refusal(reply);
}

/** Keeps the details: that the vault is sealed, or how long to wait. */
function refusal({ status, error: body }: Extract<VaultReply<unknown>, { is: 'refused' }>): ServiceError {
  const { ok: _, error, message, request_id: __, ...details } = body;
  return new ServiceError(error, message, { status, details });
}

/** The client for these settings; null unless both the address and the agent's key are set. */
export function vaultOfSettings({
  vaultUrl,
  vaultAgentKey,
  vaultAdminKey,
}: Pick<Settings, 'vaultUrl' | 'vaultAgentKey' | 'vaultAdminKey'>): VaultClient | null {
  if (vaultUrl === null || vaultAgentKey === null) return null;
  return createVaultClient({ url: vaultUrl, agentKey: vaultAgentKey, adminKey: vaultAdminKey });
}
