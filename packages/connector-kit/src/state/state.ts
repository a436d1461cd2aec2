/** Anything JSON can hold. What cannot be written as JSON is refused. */
export type StateValue =
  | string
  | number
  | boolean
  | null
  | readonly StateValue[]
  | { readonly [name: string]: StateValue | undefined };

/**
 * What an instance remembers over the ends of its processes: offsets, ids it has seen, which message of the platform belongs to which
 * turn. Every promise resolves when the change is on the disk, and changes are there in the order in which they were made. A value has
 * up to 8 MiB as JSON, all together 32 MiB.
 */
export type ConnectorState = {
  /** Undefined where there is nothing. What it gives is the caller's own. */
  get<T extends StateValue>(key: string): Promise<T | undefined>;
  /** @throws ServiceError `bad_request` for a key or value that cannot be kept, `too_large` past a limit, `insufficient_storage` where the disk takes it not. */
  set(key: string, value: StateValue): Promise<void>;
  /** Several changes that are there all or not at all; `undefined` deletes. @throws as `set` */
  change(entries: Readonly<Record<string, StateValue | undefined>>): Promise<void>;
  delete(key: string): Promise<void>;
  /** All whose keys begin with `prefix`, in the order of their keys. */
  list(prefix: string): Promise<{ key: string; value: StateValue }[]>;
  /** Adds to the list that a key holds, which keeps its newest `keep` items (1,000 unless said). @throws as `set` */
  append(key: string, item: StateValue, keep?: number): Promise<void>;
};
