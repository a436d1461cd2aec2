import type { Tier } from './trust.ts';
import type { VaultStatus } from './vault.ts';

/** The places of secrets, in the order of the search. */
export const secretPlaces = ['vault', 'environment', 'file', 'command'] as const;
export type SecretPlace = (typeof secretPlaces)[number];

/** A user of a secret. `id`: that of a connector, an engine or a tool server, or the name of a setting. */
export type SecretUser = { kind: 'connector' | 'engine' | 'tool_server' | 'setting'; id: string; name: string };

/** The metadata of a secret. */
export type SecretEntry = {
  name: string;
  /** The places that have it, of which the first is used; empty: it is missing. */
  places: SecretPlace[];
  /** The least trust that the vault requires; null for other places, which do not check trust. */
  min_trust: Tier | null;
  /** Epoch ms; only for secrets in the vault. */
  updated_at: number | null;
  used_by: SecretUser[];
  /** True when it may be in a vault that does not answer, so that its users wait. */
  waits: boolean;
};

/** `GET /v2/secrets`. `faults`: which places and users could not be queried, and why. */
export type SecretList = {
  secrets: SecretEntry[];
  /** `fault`: why its secrets cannot be listed; secrets that are in no other place may be there. */
  vault: VaultStatus & { fault: string | null };
  /** The secrets file. */
  file: string;
  faults: string[];
};

/** `DELETE /v2/secrets/:name`. `still_in`: places that still have one of that name, which this route cannot change. */
export type SecretRemoved = { ok: true; name: string; removed_from: ('vault' | 'file')[]; still_in: SecretPlace[] };
