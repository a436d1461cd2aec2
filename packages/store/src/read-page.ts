import type { Database, Value } from './database.ts';

export type Page<Row> = { rows: Row[]; next: number | null };

/** Parts of the SQL of a list that is read by `seq`, newest first. */
export type PageSql = {
  columns: string;
  table: string;
  /** The condition, with a `?` for each value. */
  where: string;
  /** An expression for the size of a row in bytes. */
  bytes: string;
};

/** The greatest size of a page. A page always has at least one row, so that everything stored can be returned. */
export const maxPageBytes = 4 * 1024 * 1024;

/** One page of up to `limit` rows, as many as fit. It reads their sizes first, so that it loads no more than it returns. */
export async function readPage<Row extends { seq: number }>(
  db: Pick<Database, 'all'>,
  { columns, table, where, bytes }: PageSql,
  { values, before, limit }: { values: Value[]; before: number; limit: number },
): Promise<Page<Row>> {
  const from = `FROM ${table} WHERE ${where} AND seq`;
  const sizes = await db.all<{ seq: number; bytes: number }>(
    `SELECT seq, ${bytes} AS bytes ${from} < ? ORDER BY seq DESC LIMIT ?`,
    ...values,
    before,
    limit,
  );
  const fitting = sizes.slice(0, countFitting(sizes));
  const last = fitting.at(-1)?.seq;
  if (last === undefined) return { rows: [], next: null };
  const rows = await db.all<Row>(`SELECT ${columns} ${from} < ? AND seq >= ? ORDER BY seq DESC`, ...values, before, last);
  return { rows, next: fitting.length === limit || fitting.length < sizes.length ? last : null };
}

/** How many of the first rows fit into a page; at least one. */
export function countFitting(sizes: readonly { bytes: number }[], room = maxPageBytes): number {
  let left = room;
  const end = sizes.findIndex(({ bytes }, index) => (left -= bytes) < 0 && index > 0);
  return end === -1 ? sizes.length : end;
}

/** The first values of a list whose JSON fits into a page; at least one. */
export const firstFitting = <T>(values: readonly T[], room = maxPageBytes): T[] =>
  values.slice(
    0,
    countFitting(
      values.map((value) => ({ bytes: Buffer.byteLength(JSON.stringify(value)) })),
      room,
    ),
  );

/** An expression for the total bytes of some columns. */
export const bytesOf = (...columns: string[]): string =>
  columns.map((column) => `COALESCE(octet_length(${column}), 0)`).join(' + ');

/** Returns a text as its UTF-8 bytes, which is much faster for a long one. */
export const asBytes = (expression: string): string => `CAST(${expression} AS BLOB)`;

const asItIs = (expression: string): string => expression;

/** A column, or null where it is longer than `maxBytes`, which older rows may be; a longer one is not read at all. */
export const bounded = (column: string, maxBytes: number, as = asItIs): string =>
  `${as(`CASE WHEN octet_length(${column}) <= ${maxBytes} THEN ${column} END`)} AS ${column}`;

/** A column's text, or its beginning. */
export const cut = (column: string, maxBytes: number, as = asItIs): string =>
  `${as(`CASE WHEN octet_length(${column}) <= ${maxBytes} THEN ${column} ELSE substr(${column}, 1, ${maxBytes / 4}) || '…' END`)} AS ${column}`;
