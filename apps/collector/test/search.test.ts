import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import { existsSync, writeFileSync } from 'node:fs';
import type { SearchAnswer } from '@svc/contract/insights.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector;
beforeEach(() => {
  collector = openTestCollector();
});
afterEach(() => collector.close());

const search = (q: string, more = '') => collector.read<SearchAnswer>(`/api/search?q=${encodeURIComponent(q)}${more}`);
const indexFile = () => path.join(collector.dataDir, 'collector-search.db');
const indexed = () => {
  const db = new DatabaseSync(indexFile(), { readOnly: true });
  const seq = db.prepare('SELECT seq FROM position').get()?.['seq'];
  db.close();
  return seq;
};
const said = (session: string, ts: number, text: string, rest = {}) => ({ kind: 'inbound', session, ts, text, ...rest });

test('a search gives the sessions whose text matches, newest hit first, with counts and a snippet', async () => {
  await collector.ingest([
    said('a', 100, 'the quick brown fox', { identity: 'ann', principal: 'ann', surface: 'compat' }),
    said('a', 200, 'a fox again', { id: 'newest-of-a' }),
    said('b', 300, 'no such animal'),
    said('c', 400, 'Fox!'),
    { kind: 'outbound', ts: 500, text: 'a fox of no session' },
  ]);
  const answer = await search('fox');
  expect(answer).toMatchObject({ q: 'fox', hits: 4, capped: false, complete: true });
  expect(answer.sessions.map(({ conversation_key, hits }) => [conversation_key, hits])).toEqual([
    ['c', 1],
    ['a', 2],
  ]);
  expect(answer.sessions[1]).toEqual({
    conversation_key: 'a',
    title: null,
    surface: 'compat',
    identity: 'ann',
    principal: 'ann',
    active: false,
    hits: 2,
    last_hit_at: 200,
    event_id: 'newest-of-a',
    snippet: 'a fox again',
    highlights: [[2, 5]],
  });
});

test('since counts hits by the time of their event, not by when it arrived', async () => {
  const many = Array.from({ length: 9000 }, (_, i) => said('many', 1000 + i, 'word'));
  await collector.ingest([...many, said('late', 5, 'word'), said('new', 20_000, 'word')]);
  while (!(await search('word')).complete);
  expect((await search('word', '&since=9999')).sessions.map(({ conversation_key, hits }) => [conversation_key, hits])).toEqual([
    ['new', 1],
    ['many', 1],
  ]);
  expect((await search('word')).sessions.map(({ conversation_key }) => conversation_key)).toEqual(['new', 'late', 'many']);
  expect((await search('word', '&limit=1')).sessions).toHaveLength(1);
});

test('limits the hits of a frequent word to the newest, and says so', async () => {
  const crowd = Array.from({ length: 12_000 }, (_, i) => said(`s${i % 7}`, i, 'everywhere'));
  await collector.ingest(crowd);
  // More waits than one search takes in.
  expect((await search('everywhere')).complete).toBe(false);
  while (!(await search('everywhere')).complete);
  expect(await search('everywhere')).toMatchObject({ hits: 10_000, capped: true });
});

test('indexes stored events in the background after a quiet period', async () => {
  await collector.ingest(Array.from({ length: 4500 }, () => said('s', 1, 'text')));
  collector.clock.advance(4999);
  expect(existsSync(indexFile())).toBe(false);
  collector.clock.advance(1);
  await expect.poll(indexed).toBe(4500);
  expect(await search('text')).toMatchObject({ hits: 4500, complete: true });
});

test('rebuilds an index that is corrupt, or of other events', async () => {
  await collector.ingest([said('s', 1, 'text')]);
  expect((await search('text')).hits).toBe(1);
  await collector.context.searchThread.close();
  writeFileSync(indexFile(), 'this is no database at all '.repeat(1000));
  expect((await search('text')).hits).toBe(1);
  await collector.context.searchThread.close();
  const db = new DatabaseSync(indexFile());
  db.exec('UPDATE position SET seq = 1000');
  db.close();
  expect((await search('text')).hits).toBe(1);
});

test('rebuilds an index that proves corrupt in use', async () => {
  await collector.ingest([said('s', 1, 'text')]);
  expect((await search('text')).hits).toBe(1);
  await collector.context.searchThread.close();
  const db = new DatabaseSync(indexFile(), { defensive: false });
  db.exec("UPDATE event_text_0_data SET block = x'ffffffffffffffffffff'");
  db.close();
  expect((await collector.app.inject('/api/search?q=text')).statusCode).toBe(503);
  expect((await search('text')).hits).toBe(1);
});

test.each([
  '%00',
  '"',
  '%22%22',
  'a%20AND',
  '(((',
  '-',
  '*',
  'NEAR(',
  '%F0%9F%91%8D',
  encodeURIComponent(`"'; DROP TABLE event; --`),
])('the query %s is answered', async (q) => {
  await collector.ingest([said('s', 1, 'text')]);
  expect((await collector.app.inject(`/api/search?q=${q}`)).statusCode).toBe(200);
});

test('accepts a query of 500 characters and refuses a longer one', async () => {
  expect((await collector.app.inject(`/api/search?q=${'a'.repeat(500)}`)).statusCode).toBe(200);
  expect((await collector.app.inject(`/api/search?q=${'a'.repeat(501)}`)).statusCode).toBe(400);
});

test.each(['', 'q=', 'q=%20', 'q=a&since=x', 'q=a&limit=-1', 'q=a&q=b'])('refuses ?%s', async (query) => {
  expect((await collector.app.inject(`/api/search?${query}`)).statusCode).toBe(400);
});
