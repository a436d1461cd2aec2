import type { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * A statement that only writes. Each gives back the number of the row that the connection wrote last; after a removal that
 * is a number of the full-text index itself, for which a JavaScript number has no room.
 */
export function prepareWrite(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
