import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Database, Value } from './database.ts';

type Statement = { statement: StatementSync; writes: boolean };
type Statements = (sql: string) => Statement;

/** Statements, prepared once for each text. */
export function createStatements(raw: DatabaseSync): Statements {
  const statements = new Map<string, Statement>();
  return (sql) => {
    let known = statements.get(sql);
    if (known === undefined) {
      known = { statement: raw.prepare(sql), writes: !/^\s*select\b/i.test(sql) };
      statements.set(sql, known);
    }
    return known;
  };
}

/** The port inside a transaction, which commits nothing before its end. */
export function statementsWithin(prepared: Statements, mark: () => number): Omit<Database, 'transaction'> {
  const within: Omit<Database, 'transaction'> = {
    get: async <T>(sql: string, ...values: Value[]) => prepared(sql).statement.get(...values) as T | undefined,
    all: async <T>(sql: string, ...values: Value[]) => prepared(sql).statement.all(...values) as T[],
    run: async (sql, ...values) => Number(prepared(sql).statement.run(...values).changes),
    getDeferred: (sql, ...values) => within.get(sql, ...values),
    mark,
    flush: () => Promise.resolve(),
    close: () => Promise.reject(new Error('a database cannot be closed inside a transaction')),
  };
  return within;
}
