/** What can be bound to a statement. Booleans are stored as 0 and 1 by the stores themselves. */
export type Value = string | number | bigint | null | Uint8Array;

/**
 * The database port. SQL is plain, with `?` placeholders, and kept to what SQLite and PostgreSQL both speak, so that a
 * second implementation is an adapter. What `get`, `all` and `run` changed survives the end of the process when they resolve.
 */
export interface Database {
  get<T>(sql: string, ...values: Value[]): Promise<T | undefined>;
  all<T>(sql: string, ...values: Value[]): Promise<T[]>;
  /** Returns the number of rows changed. */
  run(sql: string, ...values: Value[]): Promise<number>;
  /**
   * Like `get`, but resolves before the change is safe: that follows within 10 ms, and before any later `run` or `flush`
   * resolves. For a step whose end awaits one of these anyway.
   */
  getSoon<T>(sql: string, ...values: Value[]): Promise<T | undefined>;
  /** Resolves when everything changed so far is safe. */
  flush(): Promise<void>;
  /** Runs `fn` as one transaction; transactions are serialized. A throw rolls back and passes on. */
  transaction<T>(fn: (db: Database) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
