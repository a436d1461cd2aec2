import type { SenderBudget } from './cost.ts';

/** The form of a key's name, which is the sender of its messages. */
export const apiKeyNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

/** A key of a chat completions API, as a list may show it: never the key itself. */
export type ApiKey = {
  name: string;
  /** Its last characters; empty for one that is short. */
  ending: string;
  /** Key of the person for whom it acts; null for a name that belongs to no person, which is denied. */
  for: string | null;
  connector: string;
  budget: Pick<SenderBudget, 'month_usd' | 'spent_usd'> | null;
};

/** A chat completions API that keys belong to. */
export type ApiKeyPlace = {
  connector: string;
  name: string;
  /** Null while it does not run. */
  url: string | null;
  /** Why its keys cannot be listed or changed. */
  fault: string | null;
};

/** `GET /v2/keys`. */
export type ApiKeyList = { keys: ApiKey[]; connectors: ApiKeyPlace[] };

/** `for`: key of a person; the owner unless given. `connector`: id or name, where there are several. */
export type NewApiKey = { name: string; for?: string; month_usd?: number; connector?: string };

/** `POST /v2/keys`: the key is shown this once. */
export type ApiKeyCreated = {
  name: string;
  key: string;
  for: string;
  connector: string;
  url: string | null;
  budget_usd: number | null;
  /** True when its connector accepts it already. */
  effective: boolean;
};

/** `DELETE /v2/keys/:name`: `keys` is how many had the name. `effective`: no running connector accepts them any more. */
export type ApiKeyRevoked = { name: string; connector: string; keys: number; effective: boolean };
