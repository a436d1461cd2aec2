import type { Database, Value } from './database.ts';

export type Page<Row> = { rows: Row[]; next: number | null };

/** Parts of the SQL of a list that is read newest first, by `seq`. */
export type PageSql = {
  columns: string;
  table: string;
  /** With a `?` for each of the values. */
  where: string;
  /** How many bytes a row takes of its page. */
  bytes: string;
};

/** A page is at most this large, and never without a row: whatever is stored, it can be answered. */
export const maxPageBytes = 4 * 1024 * 1024;

/** One page, of `limit` rows or of what fits. Their sizes are looked at first, so that no more is read than is shown. */
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

/** How many of the first fit into a page; at least one. */
export function countFitting(sizes: readonly { bytes: number }[], room = maxPageBytes): number {
  let left = room;
  const end = sizes.findIndex(({ bytes }, index) => (left -= bytes) < 0 && index > 0);
  return end === -1 ? sizes.length : end;
}

/** As many of the first of a list as fit into a page as JSON; at least one. */
export const firstFitting = <T>(values: readonly T[], room = maxPageBytes): T[] =>
  values.slice(
    0,
    countFitting(
      values.map((value) => ({ bytes: Buffer.byteLength(JSON.stringify(value)) })),
      room,
    ),
  );

/** The bytes of some columns together. */
export const bytesOf = (...columns: string[]): string =>
  columns.map((column) => `COALESCE(octet_length(${column}), 0)`).join(' + ');

/** Has a text handed out as the bytes of its UTF-8, which is much faster for a long one. */
export const asBytes = (expression: string): string => `CAST(${expression} AS BLOB)`;

const asItIs = (expression: string): string => expression;

/** A column where it is not longer than it can be by now, else null; nothing of a longer one is read. */
export const bounded = (column: string, maxBytes: number, as = asItIs): string =>
  `${as(`CASE WHEN octet_length(${column}) <= ${maxBytes} THEN ${column} END`)} AS ${column}`;

/** A column's text, or its beginning. */
export const cut = (column: string, maxBytes: number, as = asItIs): string =>
  `${as(`CASE WHEN octet_length(${column}) <= ${maxBytes} THEN ${column} ELSE substr(${column}, 1, ${maxBytes / 4}) || '…' END`)} AS ${column}`;
