/** Any JSON value. Others are refused. */
export type StateValue =
  | string
  | number
  | boolean
  | null
  | readonly StateValue[]
  | { readonly [name: string]: StateValue | undefined };

/**
 * What an instance stores across restarts: offsets, ids it has seen, which message of the platform belongs to which turn. Each promise
 * resolves when the change is on disk; changes are applied in the order in which they were made. A value may have 8 MiB as JSON, all values
 * together 32 MiB.
 */
export type ConnectorState = {
  /** Undefined for an unknown key. The caller owns the returned value. */
  get<T extends StateValue>(key: string): Promise<T | undefined>;
  /**
   * @throws ServiceError `bad_request` for an invalid key or value, `too_large` past a limit, `insufficient_storage` when the disk is full
   */
  set(key: string, value: StateValue): Promise<void>;
  /** Makes several changes, all or none; `undefined` deletes. @throws as `set` */
  change(entries: Readonly<Record<string, StateValue | undefined>>): Promise<void>;
  delete(key: string): Promise<void>;
  /** All entries whose keys begin with `prefix`, sorted by key. */
  list(prefix: string): Promise<{ key: string; value: StateValue }[]>;
  /** Appends to the list of a key, which keeps its newest `keep` items (1,000 by default). @throws as `set` */
  append(key: string, item: StateValue, keep?: number): Promise<void>;
};
