import type { Tier } from './trust.ts';
import type { VaultStatus } from './vault.ts';

/** Where a value may lie, in the order in which the places are asked. */
export const secretPlaces = ['vault', 'environment', 'file', 'command'] as const;
export type SecretPlace = (typeof secretPlaces)[number];

/** Who asks for a secret by its name. `id`: of a connector, an engine or a tool server, or the name of a setting. */
export type SecretUser = { kind: 'connector' | 'engine' | 'tool_server' | 'setting'; id: string; name: string };

/** What may be known of a secret: everything but its value. */
export type SecretEntry = {
  name: string;
  /** Where it lies. The first one counts; none: nobody has put it anywhere. */
  places: SecretPlace[];
  /** Whom the vault gives it to at least; null for what lies elsewhere, where trust is not asked. */
  min_trust: Tier | null;
  /** Epoch ms, of what lies in the vault. */
  updated_at: number | null;
  used_by: SecretUser[];
  /** It may be in a vault that cannot say: who uses it waits. */
  waits: boolean;
};

/** `GET /v2/secrets`. `faults`: which places and users could not be asked, and why. */
export type SecretList = {
  secrets: SecretEntry[];
  /** `fault`: why it does not say what it has; what lies nowhere else may be there. */
  vault: VaultStatus & { fault: string | null };
  /** The secrets file. */
  file: string;
  faults: string[];
};

/** `DELETE /v2/secrets/:name`. `still_in`: where one of that name lies yet, out of reach of this route. */
export type SecretRemoved = { ok: true; name: string; removed_from: ('vault' | 'file')[]; still_in: SecretPlace[] };
