import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { spacedText } from './spaced-text.ts';

/**
 * Events to an index of their own. A search goes from the newest part back and stops when it has enough, so what it
 * costs does not grow with the store: a beginning (`w*`) is looked up whole in each part that it comes to.
 */
export const partSize = 131_072;

/** Hits of one part, newest first: the number of each event, and that of its session (0: none). */
export type PartHits = { seqs: number[]; sessions: number[] };

export type IndexParts = {
  add(seq: number, text: string): void;
  /** Does nothing for an event that is not in. */
  remove(seq: number): void;
  /** Removes the parts in which every event is older than this one. */
  dropBefore(seq: number): void;
  /** Hits from `fromSeq` on and not before `since`, newest parts first; at most `limit` in one part. */
  search(expression: string, fromSeq: number, since: number, limit: () => number): Iterable<PartHits>;
};

type Part = { add: StatementSync; remove: StatementSync; find: StatementSync };

const tableOf = (number: number): string => `event_text_${number}`;
export const partOf = (seq: number): number => Math.floor(seq / partSize);

const createTable = (table: string) => `CREATE VIRTUAL TABLE IF NOT EXISTS ${table} USING fts5(text, content='',
  contentless_delete=1, tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So'")`;

/** As two texts: thousands of rows take longer to hand over than to find. */
const selectHits = (table: string) => `
SELECT json_group_array(seq) AS seqs, json_group_array(session) AS sessions FROM (
  SELECT p.seq AS seq, p.session AS session FROM ${table} t CROSS JOIN place p ON p.seq = t.rowid
  WHERE t.${table} MATCH ? AND t.rowid >= ? AND p.ts >= ? ORDER BY t.rowid DESC LIMIT ?
)`;

const selectTables =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'event_text_*' AND sql LIKE 'CREATE VIRTUAL%'";

export function openIndexParts(db: DatabaseSync): IndexParts {
  const parts = new Map<number, Part>();
  const numbers = db
    .prepare(selectTables)
    .all()
    .map(({ name }) => Number(String(name).slice('event_text_'.length)));
  const open = (number: number): Part => {
    const table = tableOf(number);
    const part = {
      add: prepareWrite(db, `INSERT INTO ${table} (rowid, text) VALUES (?, ?)`),
      remove: prepareWrite(db, `DELETE FROM ${table} WHERE rowid = ?`),
      find: db.prepare(selectHits(table)),
    };
    parts.set(number, part);
    return part;
  };
  const partAt = (number: number): Part | null => parts.get(number) ?? (numbers.includes(number) ? open(number) : null);
  const create = (number: number): Part => {
    db.exec(createTable(tableOf(number)));
    numbers.push(number);
    return open(number);
  };
  const drop = (number: number) => {
    parts.delete(number);
    numbers.splice(numbers.indexOf(number), 1);
    db.exec(`DROP TABLE ${tableOf(number)}; DELETE FROM place WHERE seq < ${(number + 1) * partSize}`);
  };
  return {
    add(seq, text) {
      (partAt(partOf(seq)) ?? create(partOf(seq))).add.run(seq, spacedText(text));
    },
    remove(seq) {
      partAt(partOf(seq))?.remove.run(seq);
    },
    dropBefore(seq) {
      for (const number of numbers.filter((each) => each < partOf(seq))) drop(number);
    },
    *search(expression, fromSeq, since, limit) {
      for (const number of numbers.filter((each) => each >= partOf(fromSeq)).toSorted((a, b) => b - a)) {
        const found = partAt(number)?.find.get(expression, fromSeq, since, limit());
        if (found !== undefined) yield { seqs: numbersOf(found['seqs']), sessions: numbersOf(found['sessions']) };
      }
    },
  };
}

const numbersOf = (text: unknown): number[] => JSON.parse(String(text)) as number[];

/**
 * A statement that only writes. Each gives back the number of the row that the connection wrote last; after a removal that
 * is a number of the full-text index itself, for which a JavaScript number has no room.
 */
export function prepareWrite(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
