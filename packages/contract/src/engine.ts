/** How an engine is paid: by a login that bills nothing for a turn, or by a key that bills every token. */
export const engineConnections = ['subscription', 'api_key'] as const;
export type EngineConnection = (typeof engineConnections)[number];

/** Body of `PATCH /v2/engines/:id`. */
export const engineSettingsSchema = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    model: {
      type: ['string', 'null'],
      title: 'Model',
      description: 'Of the next turn; empty leaves it to the engine.',
      pattern: '^[A-Za-z0-9][\\w./:@+-]{0,199}$',
    },
    connection: {
      title: 'Connection',
      description: 'A login that bills nothing for a turn, or a key that bills every token.',
      enum: engineConnections,
    },
    billing: { title: 'Billing', description: 'Where the connection does not say it.', enum: [...engineConnections, null] },
    auto_update: { type: 'boolean', title: 'Update it without being asked' },
  },
} as const;

/** The last installation of an engine since the start of the service. Times are epoch ms. */
export type EngineInstall = {
  state: 'running' | 'done' | 'failed';
  version: string;
  /** What is going on, or how it ended, for a person to read. */
  step: string;
  started_at: number;
  ended_at: number | null;
};

/** One engine as `GET /v2/engines` shows it: its state on this machine, and how it is set. */
export type EngineView = {
  id: string;
  default: boolean;
  installed: boolean;
  version: string | null;
  path: string | null;
  auth: 'subscription' | 'api_key' | 'local' | 'none';
  ready: boolean;
  reason: string;
  /** Model of the next turn; null leaves it to the engine. Any other id may be set as well. */
  model: string | null;
  models: readonly string[];
  connection: EngineConnection;
  key_present: boolean;
  /** Set by the operator where the connection does not say; null follows it. */
  billing: EngineConnection | null;
  /** Whether a turn now would be billed by the token. */
  billed: boolean;
  auto_update: boolean;
  base_url: string | null;
  /** Whether it can be pointed at a model server of the operator's. */
  takes_base_url: boolean;
  /** The version the service is tested with, which is installed on demand; null where there is nothing to install. */
  pinned_version: string | null;
  /** The version that was used before, which is kept here; null where there is none to go back to. */
  previous_version: string | null;
  /** What the package registry said last, and when it was asked. */
  latest_version: string | null;
  checked_at: number | null;
  /** Why the last update did not happen. */
  update_fault: string | null;
  install: EngineInstall | null;
  /** Why turns pass it over for now; null while they do not. */
  notice?: string | null;
  /** What the operator should know of how it is paid; null where all is well. */
  warning?: string | null;
  /** The vendor's program to log in with, and its arguments; null where there is nothing to log in to. */
  login: string[] | null;
};

/** Answer of `POST /v2/engines/:id/test`: a real completion, and how long it took. */
export type EngineTest = { ok: true; text: string; ms: number; model: string | null };

/** A model server on this machine, as `GET /v2/engines` lists them. `models`: those to talk to. */
export type ModelServer = {
  name: string;
  base_url: string;
  models: string[];
  /** Whether it speaks the Responses protocol, which an engine that uses it needs. */
  responses: boolean;
};
/** `connect`: the command that has it used; null when it is, or when it cannot be. */
export type OfferedModelServer = ModelServer & { connect: string | null; note: string };

/** Answer of `POST /v2/engines/:id/base-url`: the models that the server offers, and what is not as it should be. */
export type BaseUrlSet = { ok: true; engine: EngineView; models: string[]; warnings: string[] };
