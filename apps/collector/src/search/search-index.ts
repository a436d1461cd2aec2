import { chmodSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { findSessions } from './find-sessions.ts';
import type { FindAnswer, IndexAnswer, SearchQuestion } from './search-messages.ts';
import { spacedText } from './spaced-text.ts';

export type SearchIndex = {
  /** Takes up to `limit` further events in. */
  takeIn(limit: number): IndexAnswer;
  forget(seqs: readonly number[]): void;
  find(question: Extract<SearchQuestion, { type: 'find' }>): FindAnswer;
  close(): void;
};

type Files = { eventFile: string; indexFile: string };

/** Goes up when the index has to be made anew: by other words, or of other columns. */
const layout = 1;
/** Events share a note of their newest time, so that a search since a time knows where to begin. */
const blockSize = 4096;
/** A search takes in what is missing before it looks, when that is not more than this. */
const maxTakenFirst = 5000;

/** A search looks at single rows all over the file of the events: mapped, that takes half the time. */
const tuning = 'PRAGMA stored.mmap_size=2147418112';

const schema = `
CREATE VIRTUAL TABLE event_text USING fts5(text, content='', contentless_delete=1,
  tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So'");
CREATE TABLE block (number INTEGER PRIMARY KEY, max_ts INTEGER NOT NULL);
CREATE TABLE position (seq INTEGER NOT NULL, source INTEGER NOT NULL);
INSERT INTO position SELECT 0, min(applied_at) FROM stored.schema_migration;
PRAGMA main.user_version=${layout}`;

/**
 * The words of all events, in a file beside the events. It can be made anew from them at any time, so a file that is
 * broken, of another layout or of other events is thrown away.
 */
export function openSearchIndex(files: Files): SearchIndex {
  const db = openFile(files) ?? openFile(files);
  if (db === null) throw new Error('the search index cannot be made');
  return createIndex(db);
}

function openFile({ eventFile, indexFile }: Files): DatabaseSync | null {
  const db = new DatabaseSync(indexFile, { timeout: 5000 });
  try {
    chmodSync(indexFile, 0o600);
    db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8192');
    db.exec(`ATTACH '${pathToFileURL(eventFile).href.replaceAll("'", "''")}?mode=ro' AS stored; ${tuning}`);
    if (Number(db.prepare('PRAGMA main.user_version').get()?.['user_version']) === 0) db.exec(`BEGIN; ${schema}; COMMIT`);
    if (isOfTheseEvents(db)) return db;
  } catch (error) {
    db.close();
    if (!/malformed|not a database|no such table/.test((error as Error).message)) throw error;
    removeFile(indexFile);
    return null;
  }
  db.close();
  removeFile(indexFile);
  return null;
}

const removeFile = (file: string) => ['', '-wal', '-shm'].forEach((end) => rmSync(file + end, { force: true }));

/** Events that were brought back from a copy have other numbers than those the index knows. */
function isOfTheseEvents(db: DatabaseSync): boolean {
  if (Number(db.prepare('PRAGMA main.user_version').get()?.['user_version']) !== layout) return false;
  const sql = `SELECT seq <= (SELECT coalesce(max(seq), 0) FROM stored.event)
    AND source = (SELECT min(applied_at) FROM stored.schema_migration) AS same FROM position`;
  return db.prepare(sql).get()?.['same'] === 1;
}

type EventText = { seq: number; ts: number; text: string | null };

function createIndex(db: DatabaseSync): SearchIndex {
  const next = db.prepare('SELECT seq, ts, text FROM stored.event WHERE seq > ? ORDER BY seq LIMIT ?');
  const add = db.prepare('INSERT INTO event_text (rowid, text) VALUES (?, ?)');
  const remove = db.prepare('DELETE FROM event_text WHERE rowid = ?');
  const note = db.prepare(`INSERT INTO block (number, max_ts) VALUES (?, ?)
    ON CONFLICT (number) DO UPDATE SET max_ts = max(max_ts, excluded.max_ts)`);
  const move = db.prepare('UPDATE position SET seq = ?');
  const position = db.prepare('SELECT seq FROM position');
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

  const takeIn = (limit: number): IndexAnswer => {
    const seq = Number(position.get()?.['seq'] ?? 0);
    const rows = next.all(seq, limit) as EventText[];
    const last = rows.at(-1);
    if (last === undefined) return { seq, behind: false };
    inTransaction(() => {
      for (const { seq, text } of rows) if (text !== null && text !== '') add.run(seq, spacedText(text));
      for (const [number, newest] of newestByBlock(rows)) note.run(number, newest);
      move.run(last.seq);
    });
    return { seq: last.seq, behind: rows.length === limit };
  };
  const find = findSessions(db, blockSize);
  return {
    takeIn,
    forget: (seqs) => inTransaction(() => seqs.forEach((seq) => remove.run(seq))),
    find(question) {
      let behind = true;
      for (let taken = 0; behind && taken < maxTakenFirst; taken += 1000) ({ behind } = takeIn(1000));
      return { ...find(question), complete: !behind };
    },
    close: () => db.close(),
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
