import type { Capabilities } from './envelope.ts';

/** JSON-Schema-like description of an instance's config (spec: `configSchema`). */
export type ConfigSchema = {
  type: 'object';
  required?: readonly string[];
  properties: Readonly<Record<string, { type: string; title: string; default?: unknown; [keyword: string]: unknown }>>;
};

/** The marker of a port in `configSchema` that is of a server elsewhere, which any number of instances may name. Others are the instance's own. */
export const portElsewhere = { portOf: 'server' } as const;

/** What can be pushed to a running instance. */
export type Outbound = {
  kinds: readonly string[];
  target: { required: boolean; label: string };
  /** What is sent is not shown to people but done, with the rights of a person whom the instance names. Only an owner may send it from a turn. */
  steers?: true;
};

/** What Node cannot keep within bounds: a process that has one of these can read and do all that the service can. */
export const boundlessPermissions = ['child-process', 'worker', 'addons', 'sqlite'] as const;
export type BoundlessPermission = (typeof boundlessPermissions)[number];

/** What a connector process may do beside the network and its own folder. */
export type ConnectorPermissions = {
  allow?: readonly BoundlessPermission[];
  /** Config fields that hold the path of a file or folder it reads; those of `write` it changes, too. */
  read?: readonly string[];
  write?: readonly string[];
  /** `every`: what it asks for an owner may be about conversations of all channels, and not of its own instance alone. */
  sessions?: 'every';
};

/**
 * Libraries that only some instances use. They are no dependency: what the lock file says is installed when the first of these starts.
 * For types of the service alone.
 */
export type ConnectorPackages = {
  /** Folder of `package.json` and `package-lock.json` within the type's own. */
  folder: string;
  /** Config field, a switch: instances that have it on get the libraries. */
  when: string;
  /** They are WebAssembly that asks WASI for a clock and the like; it gets no files. Nothing native is installed. */
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
  /** Those of `credentialKeys` whose value only one running instance may have: the token of a bot, the login of a mailbox. */
  exclusive?: readonly string[];
  configSchema: ConfigSchema;
  /** Absent or false for types that only answer on the connection they were asked on. */
  outbound?: Outbound | false;
  /** Names of what a running instance does when it is asked (`POST /instances/:id/call`). */
  calls?: readonly string[];
  permissions?: ConnectorPermissions;
  packages?: ConnectorPackages;
  /** It serves the web app of devices, which is built before it starts. For types of the service alone. */
  webApp?: true;
  /** Memory that a process of this type may use, MB, where the usual limit is not right for it. */
  memory_mb?: number;
};

/** A type as the manager has it (`GET /types`): what it may leave out is filled in. */
export type LoadedMeta = ConnectorMeta & { outbound: Outbound | false };
