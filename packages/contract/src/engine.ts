/** How an engine is paid: by a login without a charge for each turn, or by a key that bills every token. */
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
      description: 'For the next turn. Leave it empty to let the engine choose.',
      pattern: '^[A-Za-z0-9][\\w./:@+-]{0,199}$',
    },
    connection: {
      title: 'Connection',
      description: 'A login that bills nothing for a turn, or a key that bills every token.',
      enum: engineConnections,
    },
    billing: {
      title: 'Billing',
      description: 'Only needed where the connection does not determine it.',
      enum: [...engineConnections, null],
    },
    auto_update: { type: 'boolean', title: 'Update automatically' },
  },
} as const;

/** The last installation of an engine since the start of the service. Times are epoch ms. */
export type EngineInstall = {
  state: 'running' | 'done' | 'failed';
  version: string;
  /** The current step or the result, for a person to read. */
  step: string;
  started_at: number;
  ended_at: number | null;
};

/** One engine as `GET /v2/engines` shows it: its state on this machine, and its settings. */
export type EngineView = {
  id: string;
  default: boolean;
  installed: boolean;
  version: string | null;
  path: string | null;
  auth: 'subscription' | 'api_key' | 'local' | 'none';
  ready: boolean;
  reason: string;
  /** The model of the next turn; null lets the engine choose. Ids that are not in `models` may be set too. */
  model: string | null;
  models: readonly string[];
  connection: EngineConnection;
  key_present: boolean;
  /** Set by the operator where the connection does not determine it; null: as the connection. */
  billing: EngineConnection | null;
  /** Whether a turn would now be billed by the token. */
  billed: boolean;
  auto_update: boolean;
  base_url: string | null;
  /** Whether it can use a model server of the operator's. */
  takes_base_url: boolean;
  /** The version that the service is tested with and installs on demand; null where there is nothing to install. */
  pinned_version: string | null;
  /** The previous version, which is kept for going back; null if there is none. */
  previous_version: string | null;
  /** The newest version in the package registry, and when that was looked up. */
  latest_version: string | null;
  checked_at: number | null;
  /** Why the last update failed. */
  update_fault: string | null;
  install: EngineInstall | null;
  /** Why turns skip it at present; null while they do not. */
  notice?: string | null;
  /** A warning about how it is paid; null where all is well. */
  warning?: string | null;
  /** The vendor's login program and its arguments; null where no login is needed. */
  login: string[] | null;
};

/** Answer of `POST /v2/engines/:id/test`: a real completion, and how long it took. */
export type EngineTest = { ok: true; text: string; ms: number; model: string | null };

/** A model server on this machine, as `GET /v2/engines` lists it. `models`: those for conversations. */
export type ModelServer = {
  name: string;
  base_url: string;
  models: string[];
  /** Whether it speaks the Responses protocol, which an engine that uses it needs. */
  responses: boolean;
};
/** `connect`: the command that puts it to use; null when it is used already, or cannot be. */
export type OfferedModelServer = ModelServer & { connect: string | null; note: string };

/** Answer of `POST /v2/engines/:id/base-url`: the models that the server offers, and warnings. */
export type BaseUrlSet = { ok: true; engine: EngineView; models: string[]; warnings: string[] };
