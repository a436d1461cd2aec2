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
  /** The vault knows better than to give it: no other place may be asked for it. */
  | { is: 'denied'; why: string }
  /** It cannot say anything at the moment: other places may be asked. */
  | { is: 'unreachable'; why: string }
  | { is: 'sealed' };

const isName = new RegExp(vaultNamePattern);

type Options = { url: string; agentKey: Secret; adminKey: Secret | null; timeoutMs?: number; clock?: Clock };

/** Follows the state of the vault until the returned function is called: at first, at every change, null while it is away. */
export type WatchVault = (onState: (state: VaultState | null) => void) => () => void;

/** The vault as a process of the service uses it. All but `get` and `status` throw a `ServiceError` when it refuses or is away. */
export type VaultClient = {
  /** A secret for a caller of a tier. Never rejects. */
  get(name: string, callerTier: Tier): Promise<VaultAnswer>;
  /** What it says of itself; null when it does not answer in time. */
  status(): Promise<VaultState | null>;
  watch: WatchVault;
  /** What may be known of all that it has. */
  list(): Promise<VaultCredential[]>;
  /** Opens it; nothing happens when it is open. */
  unseal(passphrase: Secret): Promise<void>;
  seal(): Promise<void>;
  rotate(): Promise<VaultRotated>;
  changePassphrase(now: Secret, next: Secret): Promise<void>;
  /** The newest entries of its record. `before`: the id of one, to go on from. */
  access(limit: number, before: number): Promise<VaultAccess[]>;
  /** All who may ask for secrets, and who might once. */
  agents(): Promise<VaultAgent[]>;
  /** As whom this process asks; null when the vault knows nobody with its key. */
  self(): Promise<VaultAgent | null>;
  /** From then on it may ask for secrets up to its tier. Its key cannot be read again. */
  addAgent(name: string, tier: Tier): Promise<{ agent: VaultAgent; key: Secret }>;
  /** From then on its key opens nothing. */
  removeAgent(name: string): Promise<VaultAgent>;
  /** Stores a value, or replaces it. */
  put(name: string, value: Secret, minTrust: Tier): Promise<VaultCredential>;
  /** False when it had no credential of that name. */
  remove(name: string): Promise<boolean>;
  /** A new data key for a silo: to use now, and wrapped to keep. */
  generateSiloKey(silo: string): Promise<{ key: Buffer; wrapped: string }>;
  wrapSiloKey(silo: string, key: Buffer): Promise<string>;
  unwrapSiloKey(silo: string, wrapped: string): Promise<Buffer>;
};

/** Deriving a key from a passphrase takes its time on purpose. */
const derivingMs = 30_000;

/** One exchange is bounded by `timeoutMs`; `get` takes two, and `unseal` is patient. */
export function createVaultClient({ url, agentKey, adminKey, timeoutMs = 2000, clock = systemClock }: Options): VaultClient {
  const asAgent = <T>(path: string, body: object) => callVault<T>(`${url}/v1/${path}`, { body, agentKey, timeoutMs });
  const asAdmin = async <T>(path: string, request: Partial<VaultRequest> = {}): Promise<T> => {
    if (adminKey === null) throw new ServiceError('conflict', 'The vault does this with SVC_VAULT_ADMIN_KEY only. Set it.');
    return orThrow(await callVault<T>(`${url}/v1/${path}`, { timeoutMs, ...request, adminKey }));
  };

  return {
    async get(name, callerTier) {
      // No credential can have such a name.
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
  // A fault of the vault's own, such as a full disk, says nothing about who may have what.
  return status === 429 || status >= 500 ? { is: 'unreachable', why: error.message } : { is: 'denied', why: error.message };
}

function orThrow<T>(reply: VaultReply<T>): T {
  if (reply.is === 'ok') return reply.body;
  if (reply.is === 'unreachable') throw unavailable(`The vault cannot be reached: ${reply.why}.`);
  const { error, message } = reply.error;
  // Its 401 is about our key, not about who asks us.
  throw error === 'unauthorized' ? new ServiceError('conflict', `The vault does not know our key. ${message}`) : refusal(reply);
}

/** With its details: that it is sealed, or how long to wait. */
function refusal({ status, error: body }: Extract<VaultReply<unknown>, { is: 'refused' }>): ServiceError {
  const { ok: _, error, message, request_id: __, ...details } = body;
  return new ServiceError(error, message, { status, details });
}

/** The vault of these settings; null unless both its address and the agent's key are set. */
export function vaultOfSettings({
  vaultUrl,
  vaultAgentKey,
  vaultAdminKey,
}: Pick<Settings, 'vaultUrl' | 'vaultAgentKey' | 'vaultAdminKey'>): VaultClient | null {
  if (vaultUrl === null || vaultAgentKey === null) return null;
  return createVaultClient({ url: vaultUrl, agentKey: vaultAgentKey, adminKey: vaultAdminKey });
}
