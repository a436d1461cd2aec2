import type { Tier } from './trust.ts';

/** `GET /v2/vault/status` of the core. `sealed` is false only when the vault itself reports that it is unsealed. */
export type VaultStatus = { configured: boolean; reachable: boolean; sealed: boolean };

/** Answer of `POST /v2/vault/secrets` of the core. In the file `min_trust` is null, because it cannot restrict access by trust. */
export type VaultSecretStored = { ok: true; name: string; stored_in: 'vault' | 'file'; min_trust: Tier | null };

/** `GET /v1/status` of the vault process. */
export type VaultState = { initialized: boolean; sealed: boolean };

/** `POST /v1/init`. `admin_key` is null when the operator has set one; it is shown this once. */
export type VaultInitialized = { ok: true; sealed: false; admin_key: string | null };

/** The metadata of a stored secret. */
export type VaultCredential = { name: string; min_trust: Tier; version: number; created_at: number; updated_at: number };

/** A program that may get secrets, up to a tier. */
export type VaultAgent = { id: string; name: string; tier: Tier; created_at: number; revoked_at: number | null };

/** `POST /v1/agents`: the key is shown this once. */
export type VaultAgentRegistered = { ok: true; agent: VaultAgent; key: string };

/** `GET /v2/vault/agents` of the core. `own`: the name of the service's own agent; null when the vault does not know its key. */
export type VaultAgentList = { agents: VaultAgent[]; own: string | null };

/** `POST /v2/vault/agents` of the core: the key is shown this once. `url`: where the service itself reaches the vault. */
export type VaultAgentAdded = VaultAgentRegistered & { url: string };

/** `DELETE /v2/vault/agents/:name` of the core. */
export type VaultAgentRemoved = { ok: true; agent: VaultAgent };

/** `POST /v1/tokens`: valid for one redemption, by the same agent, until `expires_at`. */
export type VaultToken = { ok: true; token: string; name: string; expires_at: number };

/** `POST /v1/redeem`. */
export type VaultValue = { ok: true; name: string; version: number; value: string };

/** `POST /v1/silos/generate`, `/wrap` and `/unwrap`: a data key of 32 bytes in base64, and the same wrapped. */
export type VaultDataKey = { ok: true; silo: string; key: string; wrapped: string };
export type VaultWrappedKey = { ok: true; silo: string; wrapped: string };
export type VaultPlainKey = { ok: true; silo: string; key: string };

/** `POST /v1/rotate`: how many keys were rewrapped. */
export type VaultRotated = { ok: true; generation: number; rewrapped: number };

/** One line of the access log. `actor` is `admin`, an agent's name, or `vault` for its own actions. */
export type VaultAccess = {
  id: number;
  at: number;
  actor: string;
  action: string;
  target: string | null;
  outcome: 'ok' | 'denied' | 'failed';
  detail: string | null;
};

/** The form of names of secrets and silos, which are also safe in paths and program arguments. */
export const vaultNamePattern = '^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$';
/** The form of an agent's name. */
export const vaultAgentNamePattern = '^[a-z0-9][a-z0-9_-]{0,63}$';
/** The longest value, in characters: a key or a certificate chain, not a file. */
export const maxSecretLength = 65_536;
/** The shortest and the longest accepted passphrase, in characters. */
export const leastPassphraseLength = 12;
export const maxPassphraseLength = 1024;
