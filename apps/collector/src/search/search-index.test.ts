import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '@svc/service-kit/clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCollectorDb } from '../db/open-collector-db.ts';
import { findSessions } from './find-sessions.ts';
import { openIndexParts, partSize } from './index-parts.ts';
import { discardBroken, openSearchIndex, type SearchIndex } from './search-index.ts';
import { toMatch } from './to-match.ts';

let folder: ReturnType<typeof temporaryFolder>;
let files: { eventFile: string; indexFile: string };
let stored: ReturnType<typeof openCollectorDb>;
let index: SearchIndex;
beforeEach(() => {
  folder = temporaryFolder();
  files = { eventFile: path.join(folder.path, 'collector.db'), indexFile: path.join(folder.path, 'search.db') };
  stored = openCollectorDb(files.eventFile, { clock: systemClock, log: { warn: () => undefined }, durability: 'normal' });
  index = openSearchIndex(files);
});
afterEach(async () => {
  index.close();
  await stored.checkpointer.close();
  await stored.db.close();
  folder.remove();
});

/** Events with distant numbers are in different parts. */
function store(seq: number, session: string | null, text: string, ts = seq): void {
  const sql = `INSERT INTO event (seq, id, ts, kind, session, text, payload, billed, injected) VALUES (?, ?, ?, 'x', ?, ?, '{}', 0, 0)`;
  stored.db.raw.prepare(sql).run(seq, `e${seq}`, ts, session, text);
}
function find(q: string, since = 0, sessions = 50) {
  const match = toMatch(q);
  if (match === null) throw new Error('no words');
  return index.find({ type: 'find', ...match, since, sessions, activeSince: 0 });
}
const tables = () => {
  const db = new DatabaseSync(files.indexFile, { readOnly: true });
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%' ORDER BY name").all();
  db.close();
  return names.map(({ name }) => name);
};

/** As a restored backup: later events are gone, and new ones get the same numbers. */
function goBackTo(seq: number): void {
  stored.db.raw.prepare('DELETE FROM event WHERE seq > ?').run(seq);
}

test('an index of events that a restored backup replaced is discarded', () => {
  for (let seq = 1; seq <= 30; seq++) store(seq, 's', `word lost${seq}`, seq);
  expect(find('word').hits).toBe(30);
  index.close();
  goBackTo(20);
  for (let seq = 21; seq <= 60; seq++) store(seq, 't', `word new${seq}`, 1000 + seq);
  index = openSearchIndex(files);
  expect([find('lost25').hits, find('new25').hits, find('word').hits]).toEqual([0, 1, 60]);
});

test('an index is kept when only old events were removed', () => {
  for (let seq = 1; seq <= 30; seq++) store(seq, 's', 'word', seq);
  find('word');
  index.close();
  stored.db.raw.exec('DELETE FROM event WHERE seq < 10 OR seq = 30');
  store(31, 's', 'word', 31);
  const before = statSync(files.indexFile).ino;
  index = openSearchIndex(files);
  expect([statSync(files.indexFile).ino, find('word').complete]).toEqual([before, true]);
});

test('hits of all parts are merged, with the session of the newest hit first', () => {
  store(5, 'old', 'first word');
  store(partSize - 1, 'both', 'a word');
  store(partSize, 'both', 'worded');
  store(3 * partSize + 7, 'both', 'word again');
  store(3 * partSize + 8, null, 'a word of no session');
  expect(find('word')).toMatchObject({ hits: 4, capped: false, complete: true });
  expect(find('word').sessions.map(({ conversation_key, hits, event_id }) => [conversation_key, hits, event_id])).toEqual([
    ['both', 2, `e${3 * partSize + 7}`],
    ['old', 1, 'e5'],
    [null, 1, `e${3 * partSize + 8}`],
  ]);
  expect(find('wor*').hits).toBe(5);
  expect(find('word -again').hits).toBe(3);
  expect(tables()).toEqual(['event_text_0', 'event_text_1', 'event_text_3']);
});

test('a search since a time skips older parts without missing events that arrived late', () => {
  store(1, 's', 'word', 1000);
  store(2, 's', 'word', 9000);
  store(2 * partSize, 's', 'word', 2000);
  store(2 * partSize + 1, 's', 'word', 8000);
  expect(find('word', 5000).hits).toBe(2);
  expect(find('word', 9001).hits).toBe(0);
});

test('a slow search stops before older parts and is marked as capped', () => {
  for (let part = 0; part < 4; part++) store(part * partSize + 1, `s${part}`, 'word');
  find('word');
  const db = new DatabaseSync(files.indexFile);
  db.exec(`ATTACH '${files.eventFile}' AS stored`);
  let now = 0;
  const slow = findSessions({ db, parts: openIndexParts(db), blockSize: 4096, now: () => (now += 1600) });
  const found = slow({ type: 'find', expression: '"word"', since: 0, sessions: 50, activeSince: 0 });
  expect(found).toMatchObject({ hits: 2, capped: true });
  expect(found.sessions.map(({ conversation_key }) => conversation_key)).toEqual(['s3', 's2']);
  db.close();
});

test('words of removed events leave the index, and parts without events are dropped', () => {
  store(1, 's', 'secretword');
  store(2, 's', 'secretword other');
  store(partSize + 1, 's', 'other');
  expect(find('secretword').hits).toBe(2);
  stored.db.raw.exec('DELETE FROM event WHERE seq = 1');
  index.remove([1]);
  expect(find('secretword').hits).toBe(1);
  expect(find('other').hits).toBe(2);
  stored.db.raw.exec('DELETE FROM event WHERE seq = 2');
  index.remove([2]);
  // Later events are not added to that part again.
  store(partSize + 2, 's', 'more');
  expect(find('other').hits).toBe(1);
  index.remove([]);
  expect(tables()).toEqual(['event_text_1']);
  expect(find('secretword').hits).toBe(0);
});

test('damaged events keep the index, and a damaged index is discarded', () => {
  store(1, 's', 'word');
  find('word');
  const damaged = Object.assign(new Error('database disk image is malformed'), { errcode: 11 });
  expect(discardBroken(files, damaged)).toContain(`${files.eventFile} is damaged`);
  expect(existsSync(files.indexFile)).toBe(true);
  index.close();
  writeFileSync(files.indexFile, readFileSync(files.indexFile).fill(0xa5, 100, 108));
  expect(discardBroken(files, damaged)).toBe('database disk image is malformed');
  expect(existsSync(files.indexFile)).toBe(false);
  index = openSearchIndex(files);
  expect(find('word').hits).toBe(1);
});

test('an index that cannot be opened is discarded like a damaged one', () => {
  const damaged = Object.assign(new Error('database disk image is malformed'), { errcode: 11 });
  expect(discardBroken({ ...files, indexFile: `${files.indexFile}.missing` }, damaged)).toBe('database disk image is malformed');
});

test('long texts are added a few at a time, and all of them are found in the end', () => {
  const long = 'word '.repeat(50_000);
  for (let seq = 1; seq <= 30; seq++) store(seq, 's', long);
  const first = index.index(2000);
  expect(first.behind).toBe(true);
  expect(first.seq).toBeLessThan(15);
  let answer = first;
  while (answer.behind) answer = index.index(2000);
  expect(answer.seq).toBe(30);
  expect(find('word')).toMatchObject({ hits: 30, complete: true });
});
