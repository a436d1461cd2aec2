/** What can be bound to a statement. Booleans are stored as 0 and 1 by the stores themselves. */
export type Value = string | number | bigint | null | Uint8Array;

/**
 * The database port. SQL is plain, with `?` placeholders, and kept to what SQLite and PostgreSQL both speak, so that a
 * second implementation is an adapter. What `get`, `all` and `run` changed is committed when they resolve: it survives the
 * end of the process.
 */
export interface Database {
  get<T>(sql: string, ...values: Value[]): Promise<T | undefined>;
  all<T>(sql: string, ...values: Value[]): Promise<T[]>;
  /** Returns the number of rows changed. */
  run(sql: string, ...values: Value[]): Promise<number>;
  /**
   * Like `get`, but resolves before the change is committed: that follows within 10 ms, and before any later `run` or
   * `flush` resolves. For a step whose end awaits one of these anyway.
   */
  getDeferred<T>(sql: string, ...values: Value[]): Promise<T | undefined>;
  /** A place in the order of commits, to be taken before the first deferred change. */
  mark(): number;
  /**
   * Resolves when everything changed so far is committed. Rejects when that failed, and, given a mark, also when any commit
   * since then did: a deferred change may have been lost with it while nobody waited.
   */
  flush(since?: number): Promise<void>;
  /** Runs `fn` as one transaction; transactions are serialized. A throw rolls back and passes on. */
  transaction<T>(fn: (tx: Transaction) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The database inside one transaction. */
export interface Transaction extends Database {
  /** Runs `work`, which must not throw, right after the commit and before any other statement; never after a rollback. */
  afterCommit(work: () => void): void;
}
