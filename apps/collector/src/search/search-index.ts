import { chmodSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { isDamage, isIndexDamage } from '@svc/store/damage.ts';
import { createUsageSummer, type UsageSums } from '../usage/sum-usage.ts';
import { findSessions } from './find-sessions.ts';
import { openIndexParts, prepareWrite } from './index-parts.ts';
import type { FindAnswer, FindQuestion, IndexAnswer } from './search-messages.ts';

export type SearchIndex = {
  /** Adds up to `limit` further events. */
  index(limit: number): IndexAnswer;
  /** Removes events that are no longer stored. */
  remove(seqs: readonly number[]): void;
  find(question: FindQuestion): FindAnswer;
  sumUsage(fromHour: number): UsageSums;
  close(): void;
};

type Files = { eventFile: string; indexFile: string };

/** Increased when the index has to be rebuilt, because words or columns have changed. */
const layout = 2;
/** This many events share one entry with their newest time, so that a search since a time knows where to begin. */
const blockSize = 4096;
/** A search first adds missing events, up to this number. */
const maxAddedFirst = 5000;
/** The most text, in characters, that is read and added at once: texts of the maximum length would take too long, and too much memory. */
const maxAddedChars = 2 * 1024 * 1024;

/** A search reads single rows all over the file of the events; memory mapping halves its time. */
const tuning = 'PRAGMA stored.mmap_size=2147418112';

/** `place` is a compact reference to an event and its session, so that hits can be counted without reading events. */
const schema = `
CREATE TABLE place (seq INTEGER PRIMARY KEY, ts INTEGER NOT NULL, session INTEGER NOT NULL);
CREATE TABLE session (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE block (number INTEGER PRIMARY KEY, max_ts INTEGER NOT NULL);
CREATE TABLE position (seq INTEGER NOT NULL, source INTEGER NOT NULL);
INSERT INTO position SELECT 0, min(applied_at) FROM stored.schema_migration;
PRAGMA main.user_version=${layout}`;

/**
 * The full-text index of all events, in a separate file. It can be rebuilt at any time, so a file that is damaged, has
 * another layout or belongs to other events is deleted.
 */
export function openSearchIndex(files: Files): SearchIndex {
  const db = openFile(files) ?? openFile(files);
  if (db === null) throw new Error('the search index could not be created');
  return createIndex(db);
}

/**
 * Deletes the index if the error shows that it is damaged; it is rebuilt when it is opened next. If the events are damaged,
 * a new index would not help. Returns the text to report.
 */
export function discardBroken({ eventFile, indexFile }: Files, error: unknown): string {
  const { message } = error as Error;
  if (!isDamage(error)) return message;
  if (isIndexDamage(error) || !isWhole(indexFile)) {
    removeFile(indexFile);
    return message;
  }
  return `${eventFile} is damaged (${message})`;
}

/** An index that cannot be read counts as damaged, since it can be rebuilt. */
function isWhole(indexFile: string): boolean {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(indexFile, { readOnly: true });
    return db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
  } catch {
    return false;
  } finally {
    db?.close();
  }
}

function openFile({ eventFile, indexFile }: Files): DatabaseSync | null {
  const db = new DatabaseSync(indexFile, { timeout: 5000 });
  try {
    chmodSync(indexFile, 0o600);
    db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8192; PRAGMA mmap_size=2147418112');
    db.exec(`ATTACH '${pathToFileURL(eventFile).href.replaceAll("'", "''")}?mode=ro' AS stored; ${tuning}`);
    if (Number(db.prepare('PRAGMA main.user_version').get()?.['user_version']) === 0) db.exec(`BEGIN; ${schema}; COMMIT`);
    if (isOfTheseEvents(db)) return db;
  } catch (error) {
    db.close();
    if (!isDamage(error) && !(error as Error).message.includes('no such table')) throw error;
    removeFile(indexFile);
    return null;
  }
  db.close();
  removeFile(indexFile);
  return null;
}

const removeFile = (file: string) => ['', '-wal', '-shm'].forEach((end) => rmSync(file + end, { force: true }));

/**
 * After a restore, new events get numbers that the index has for other events. It is detected by the times of the newest
 * events in the index.
 */
function isOfTheseEvents(db: DatabaseSync): boolean {
  if (Number(db.prepare('PRAGMA main.user_version').get()?.['user_version']) !== layout) return false;
  const sql = `SELECT seq <= (SELECT coalesce(max(seq), 0) FROM stored.event)
    AND source = (SELECT min(applied_at) FROM stored.schema_migration) AS same FROM position`;
  return db.prepare(sql).get()?.['same'] === 1 && db.prepare(selectOther).get()?.['others'] === 0;
}

const selectOther = `SELECT count(*) AS others FROM (SELECT seq, ts FROM place ORDER BY seq DESC LIMIT 1000) p
  JOIN stored.event e ON e.seq = p.seq WHERE e.ts <> p.ts`;

const noteTime = `INSERT INTO block (number, max_ts) VALUES (?, ?)
ON CONFLICT (number) DO UPDATE SET max_ts = max(max_ts, excluded.max_ts)`;

type EventText = { seq: number; ts: number; session: string | null; text: string | null };

function createIndex(db: DatabaseSync): SearchIndex {
  const next = db.prepare('SELECT seq, ts, session, text FROM stored.event WHERE seq > ? ORDER BY seq LIMIT ?');
  const addEventRef = prepareWrite(db, 'INSERT INTO place (seq, ts, session) VALUES (?, ?, ?)');
  const removeEventRef = prepareWrite(db, 'DELETE FROM place WHERE seq = ?');
  const addTime = prepareWrite(db, noteTime);
  const setPosition = prepareWrite(db, 'UPDATE position SET seq = ?');
  const position = db.prepare('SELECT seq FROM position');
  const oldest = db.prepare('SELECT min(seq) AS seq FROM stored.event');
  const parts = openIndexParts(db);
  const sessionNumbers = createSessionNumbers(db);
  const inTransaction = (work: () => void) => {
    db.exec('BEGIN IMMEDIATE');
    try {
      work();
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };

  const index = (limit: number): IndexAnswer => {
    const seq = Number(position.get()?.['seq'] ?? 0);
    const { rows, isCut } = firstFitting(next.iterate(seq, limit));
    const last = rows.at(-1);
    if (last === undefined) return { seq, behind: false };
    inTransaction(() => {
      const numberOf = sessionNumbers();
      for (const { seq, ts, session, text } of rows) {
        if (text === null || text === '') continue;
        parts.add(seq, text);
        addEventRef.run(seq, ts, session === null ? 0 : numberOf(session));
      }
      for (const [number, newest] of newestByBlock(rows)) addTime.run(number, newest);
      setPosition.run(last.seq);
    });
    return { seq: last.seq, behind: isCut || rows.length === limit };
  };
  const find = findSessions({ db, parts, blockSize });
  return {
    index,
    remove: (seqs) =>
      inTransaction(() => {
        parts.dropBefore(Number(oldest.get()?.['seq'] ?? 0));
        for (const seq of seqs) {
          parts.remove(seq);
          removeEventRef.run(seq);
        }
      }),
    find(question) {
      let behind = true;
      for (let added = 0; behind && added < maxAddedFirst; added += 1000) ({ behind } = index(1000));
      return { ...find(question), complete: !behind };
    },
    sumUsage: createUsageSummer(db),
    close: () => db.close(),
  };
}

/** The first rows whose texts together are not too long, and at least one if there is any. */
function firstFitting(found: Iterable<unknown>): { rows: EventText[]; isCut: boolean } {
  const rows: EventText[] = [];
  let chars = 0;
  for (const row of found as Iterable<EventText>) {
    rows.push(row);
    chars += row.text?.length ?? 0;
    if (chars >= maxAddedChars) return { rows, isCut: true };
  }
  return { rows, isCut: false };
}

/** The index refers to a session by a number; each is looked up once for a commit. */
function createSessionNumbers(db: DatabaseSync): () => (key: string) => number {
  const known = db.prepare('SELECT number FROM session WHERE key = ?');
  const add = db.prepare('INSERT INTO session (key) VALUES (?) RETURNING number');
  return () => {
    const numbers = new Map<string, number>();
    return (key) => {
      const number = numbers.get(key) ?? Number((known.get(key) ?? add.get(key))?.['number']);
      numbers.set(key, number);
      return number;
    };
  };
}

function newestByBlock(rows: readonly EventText[]): Map<number, number> {
  const newest = new Map<number, number>();
  for (const { seq, ts } of rows) {
    const number = Math.floor(seq / blockSize);
    newest.set(number, Math.max(newest.get(number) ?? 0, ts));
  }
  return newest;
}
