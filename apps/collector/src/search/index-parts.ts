import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { spacedText } from './spaced-text.ts';

/**
 * The number of events in one part of the index. A search starts at the newest part and stops when it has enough hits, so
 * its cost does not grow with the store: a prefix (`w*`) is expanded only in the parts that it reaches.
 */
export const partSize = 131_072;

/** Hits of one part, newest first: the `seq` of each event, and the number of its session (0: none). */
export type PartHits = { seqs: number[]; sessions: number[] };

export type IndexParts = {
  add(seq: number, text: string): void;
  /** Does nothing for an event that is not in the index. */
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

/** Returns two JSON arrays, because passing thousands of rows takes longer than finding them. */
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
 * A statement that only writes. SQLite returns the id of the last row that was written; after a removal that is an id of the
 * full-text index itself, which is too large for a JavaScript number.
 */
export function prepareWrite(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
