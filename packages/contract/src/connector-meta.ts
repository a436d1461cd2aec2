import type { Capabilities } from './envelope.ts';

/** JSON-Schema-like description of an instance's config (spec: `configSchema`). */
export type ConfigSchema = {
  type: 'object';
  required?: readonly string[];
  properties: Readonly<Record<string, { type: string; title: string; default?: unknown; [keyword: string]: unknown }>>;
};

/** Marks a port in `configSchema` as that of another server, which several instances may name. Other ports belong to the instance. */
export const portElsewhere = { portOf: 'server' } as const;

/** What can be pushed to a running instance. */
export type Outbound = {
  kinds: readonly string[];
  target: { required: boolean; label: string };
  /** Messages are not shown but carried out, with the rights of a person whom the instance names. Only an owner may send them from a turn. */
  steers?: true;
};

/** Permissions that Node cannot limit: a process with one of these can do everything that the service can. */
export const boundlessPermissions = ['child-process', 'worker', 'addons', 'sqlite'] as const;
export type BoundlessPermission = (typeof boundlessPermissions)[number];

/** What a connector process may do besides using the network and its own folder. */
export type ConnectorPermissions = {
  allow?: readonly BoundlessPermission[];
  /** Config fields with the path of a file or folder that it reads; it also changes those of `write`. */
  read?: readonly string[];
  write?: readonly string[];
  /** `every`: for an owner, it may access the conversations of all channels, not only those of its own instance. */
  sessions?: 'every';
};

/**
 * Libraries that only some instances use. They are no dependency, but are installed from the lock file when the first such
 * instance starts. Only for the service's own types.
 */
export type ConnectorPackages = {
  /** Folder of `package.json` and `package-lock.json` within the type's own. */
  folder: string;
  /** Config field, a switch: instances that have it on get the libraries. */
  when: string;
  /** The libraries are WebAssembly that needs WASI, such as its clock, but gets no files. Nothing native is installed. */
  wasm?: boolean;
};

/** Connector type descriptor, `GET /types` (spec). It is data: a type's meta imports no library. */
export type ConnectorMeta = {
  /** Equal to the type's folder name. */
  type: string;
  displayName: string;
  supportsMultiple: boolean;
  capabilities: Capabilities;
  /** Config fields that hold the name of a secret, never a value. */
  credentialKeys: readonly string[];
  /** Those of `credentialKeys` whose value only one running instance may use: the token of a bot, the login of a mailbox. */
  exclusive?: readonly string[];
  configSchema: ConfigSchema;
  /** Absent or false for types that only answer on the connection of the request. */
  outbound?: Outbound | false;
  /** The methods of a running instance (`POST /instances/:id/call`). */
  calls?: readonly string[];
  permissions?: ConnectorPermissions;
  packages?: ConnectorPackages;
  /** It serves the web app of devices, which is built before it starts. Only for the service's own types. */
  webApp?: true;
  /** The memory limit of a process of this type, MB, where the usual one does not fit. */
  memory_mb?: number;
};

/** A type as the manager lists it (`GET /types`), with defaults filled in. */
export type LoadedMeta = ConnectorMeta & { outbound: Outbound | false };
