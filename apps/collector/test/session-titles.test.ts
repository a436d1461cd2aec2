import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Brief, SearchAnswer } from '@svc/contract/insights.ts';
import type { ListedSession } from '@svc/contract/session.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector;
beforeEach(() => {
  collector = openTestCollector();
});
afterEach(() => collector.close());

const said = (session: string, ts: number, text: string) => ({ kind: 'inbound', surface: 'compat', session, ts, text });
const titled = (session: string, ts: number, title: unknown) => ({
  kind: 'session',
  session,
  ts,
  payload: { what: 'titled', title, by: 'model' },
});
const listed = async () => (await collector.read<{ sessions: ListedSession[] }>('/api/sessions')).sessions;
const titles = async () => Object.fromEntries((await listed()).map(({ conversation_key, title }) => [conversation_key, title]));

test('a session has its latest title in the list, in a search and in the brief', async () => {
  const now = collector.clock.now();
  await collector.ingest([said('a', now - 10, 'a fox'), titled('a', now - 9, 'a fox')]);
  await collector.ingest([titled('a', now - 8, 'Foxes'), said('b', now - 7, 'a cat')]);
  expect(await titles()).toEqual({ a: 'Foxes', b: null });
  expect((await collector.read<SearchAnswer>('/api/search?q=fox')).sessions).toMatchObject([
    { conversation_key: 'a', title: 'Foxes' },
  ]);
  expect((await collector.read<Brief>('/api/brief')).active).toMatchObject([{ title: null }, { title: 'Foxes' }]);
});

test('a new title does not count as activity of the session', async () => {
  await collector.ingest([said('a', 100, 'a fox')]);
  const [before] = await listed();
  await collector.ingest([titled('a', collector.clock.now(), 'Foxes')]);
  expect(await listed()).toEqual([{ ...before, title: 'Foxes' }]);
});

test('a title makes no session, and a session that was forgotten has none', async () => {
  await collector.ingest([titled('never', 100, 'Foxes')]);
  expect(await titles()).toEqual({});
  await collector.ingest([said('a', 100, 'a fox'), titled('a', 101, 'Foxes')]);
  await collector.ingest([{ kind: 'session', session: 'a', ts: 102, payload: { what: 'forgotten' } }]);
  expect(await titles()).toEqual({ a: null });
  expect(await listed()).toMatchObject([{ last_text: null }]);
});

test('the last text of a session is what was said after its conversation was deleted, also within one commit', async () => {
  const forgotten = (ts: number) => ({ kind: 'session', session: 'a', ts, payload: { what: 'forgotten' } });
  await collector.ingest([said('a', 100, 'a fox'), forgotten(101), said('a', 102, 'a cat')]);
  expect(await listed()).toMatchObject([{ last_text: 'a cat' }]);
  await collector.ingest([said('a', 103, 'a dog'), forgotten(104)]);
  expect(await listed()).toMatchObject([{ last_text: null }]);
});

test.each([[null], [''], [5], [{}], [undefined]])('a title of %j clears the title', async (title) => {
  await collector.ingest([said('a', 100, 'a fox'), titled('a', 101, 'Foxes'), titled('a', 102, title)]);
  expect(await titles()).toEqual({ a: null });
});

test('a title is truncated at 200 characters, without splitting a character', async () => {
  await collector.ingest([said('a', 100, 'a fox'), titled('a', 101, `${'x'.repeat(199)}😀${'y'.repeat(5000)}`)]);
  expect(await titles()).toEqual({ a: 'x'.repeat(199) });
});
