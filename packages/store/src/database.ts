/** What can be bound to a statement. Booleans are stored as 0 and 1 by the stores themselves. */
export type Value = string | number | bigint | null | Uint8Array;

/**
 * The database port. SQL is plain text with `?` placeholders, limited to what SQLite and PostgreSQL both support, so that a
 * second implementation is only an adapter. When `get`, `all` and `run` resolve, their changes are committed and survive the
 * end of the process.
 */
export interface Database {
  get<T>(sql: string, ...values: Value[]): Promise<T | undefined>;
  all<T>(sql: string, ...values: Value[]): Promise<T[]>;
  /** Returns the number of rows changed. */
  run(sql: string, ...values: Value[]): Promise<number>;
  /**
   * Like `get`, but resolves before the change is committed. The commit follows within 10 ms, and before any later `run` or
   * `flush` resolves. For a step that awaits one of these at its end anyway.
   */
  getDeferred<T>(sql: string, ...values: Value[]): Promise<T | undefined>;
  /** A mark in the order of commits. Take it before the first deferred change. */
  mark(): number;
  /**
   * Resolves when all changes so far are committed. Rejects when that failed and, with a mark, also when any commit since the
   * mark failed: a deferred change may have been lost with it.
   */
  flush(since?: number): Promise<void>;
  /** Runs `fn` as one transaction; transactions are serialized. An error rolls it back and is rethrown. */
  transaction<T>(fn: (tx: Transaction) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The database inside one transaction. */
export interface Transaction extends Database {
  /** Runs `work`, which must not throw, right after the commit and before any other statement; never after a rollback. */
  afterCommit(work: () => void): void;
}
