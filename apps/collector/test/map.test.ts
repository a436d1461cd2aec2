import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WhoTouched, WorkMap } from '@svc/contract/insights.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector;
let now: number;
let place: string;
beforeEach(() => {
  collector = openTestCollector();
  now = collector.clock.now();
  place = path.join(collector.dataDir, 'places');
});
afterEach(() => collector.close());

const map = (query = '') => collector.read<WorkMap>(`/api/map?${query}`);
const who = (file: string, query = '') => collector.read<WhoTouched>(`/api/who?path=${encodeURIComponent(file)}&${query}`);
const tool = (session: string, input: unknown, over: object = {}, payload: object = {}) => ({
  kind: 'tool',
  ts: now - 1000,
  session,
  text: 'Edit',
  payload: { input, ...payload },
  ...over,
});
const repository = (name: string): string => {
  const root = path.join(place, name);
  mkdirSync(path.join(root, '.git'), { recursive: true });
  return root;
};
const shown = async () =>
  (await map()).places.map((at) => ({
    place: at.place,
    kind: at.kind,
    shared: at.shared,
    sessions: at.sessions.map((session) => session.conversation_key),
  }));

test('lists active sessions under the git repository that their tools touched, and flags a shared one', async () => {
  const [one, two] = [repository('one'), repository('two')];
  await collector.ingest([
    { kind: 'inbound', session: 'a', surface: 'compat', identity: 'u1', principal: 'ann', ts: now - 5000 },
    tool('a', { file_path: `${one}/src/deep/a.ts` }),
    tool('a', { file_path: `${one}/b.ts` }, { ts: now - 2000 }),
    tool('b', { path: `${one}/src/../c.ts` }, { ts: now - 500 }),
    tool('b', { file_path: `${two}/d.ts` }, { ts: now - 3000 }),
  ]);
  const { places, since, truncated } = await map();
  expect(places).toEqual([
    {
      place: one,
      kind: 'repo',
      shared: true,
      sessions: [
        { conversation_key: 'b', surface: null, identity: null, principal: null, active: true, last_at: now - 500 },
        { conversation_key: 'a', surface: 'compat', identity: 'u1', principal: 'ann', active: true, last_at: now - 1000 },
      ],
    },
    { place: two, kind: 'repo', shared: false, sessions: [expect.objectContaining({ conversation_key: 'b' })] },
  ]);
  expect([since, truncated]).toEqual([now - 24 * 3_600_000, false]);
});

test('lists a work tree, whose .git is a file, as a separate place', async () => {
  const root = repository('one');
  mkdirSync(path.join(root, 'tree'));
  writeFileSync(path.join(root, 'tree', '.git'), 'gitdir: ../.git/worktrees/tree');
  await collector.ingest([tool('a', { file_path: `${root}/tree/a.ts` })]);
  expect((await map()).places.map((at) => at.place)).toEqual([path.join(root, 'tree')]);
});

test('finds a new repository after a minute', async () => {
  await collector.ingest([tool('a', { file_path: `${place}/late/a.ts` })]);
  expect((await map()).places).toMatchObject([{ place: `${place}/late`, kind: 'folder' }]);
  repository('late');
  collector.clock.advance(61_000);
  expect((await map()).places).toMatchObject([{ place: `${place}/late`, kind: 'repo' }]);
});

test('lists files outside of any repository under the working folder, else under their own folder', async () => {
  const cwd = path.join(place, 'plain');
  await collector.ingest([
    tool('a', { file_path: 'notes/a.md' }, {}, { cwd }),
    tool('b', { file_path: `${place}/elsewhere/b.md` }, { ts: now - 2000 }, { cwd }),
    tool('c', { command: 'ls', cwd }, { ts: now - 3000 }),
    tool('d', { command: `cd ${place}/moved && ls` }, { ts: now - 4000 }, { cwd }),
  ]);
  expect(await shown()).toEqual([
    { place: cwd, kind: 'folder', shared: true, sessions: ['a', 'c'] },
    { place: `${place}/elsewhere`, kind: 'folder', shared: false, sessions: ['b'] },
    { place, kind: 'folder', shared: false, sessions: ['d'] },
  ]);
});

test('leaves out inactive sessions, and touches before `since`', async () => {
  const root = repository('one');
  const old = now - 20 * 60_000;
  await collector.ingest([
    tool('gone', { file_path: `${root}/a` }, { ts: old }),
    tool('here', { file_path: `${root}/a` }, { ts: old }),
  ]);
  await collector.ingest({ kind: 'inbound', session: 'here', ts: now });
  expect(await shown()).toMatchObject([{ place: root, sessions: ['here'] }]);
  expect((await map(`since=${old + 1}`)).places).toEqual([]);
});

test('lists who touched a file, or anything below a folder, newest first', async () => {
  await collector.ingest([
    tool('a', { file_path: '/r/src/a.ts' }, { ts: now - 3000 }),
    tool('a', { file_path: '/r/src/a.ts' }, { ts: now - 2000, text: 'Write' }),
    tool('b', { paths: ['/r/src/b.ts', '/r/src/a.ts'] }, { ts: now - 1000, text: 'edit_files' }),
    tool('c', { file_path: '/r/src-other/c.ts' }),
    tool('d', { file_path: '/r/src' }, { ts: now - 4000 }),
  ]);
  expect((await who('/r/src/a.ts')).sessions).toMatchObject([
    { conversation_key: 'b', touches: 1, last_at: now - 1000, paths: [{ path: '/r/src/a.ts', tool: 'edit_files' }] },
    {
      conversation_key: 'a',
      touches: 2,
      last_at: now - 2000,
      paths: [{ path: '/r/src/a.ts', tool: 'Write', last_at: now - 2000 }],
    },
  ]);
  const keys = async (file: string, query = '') => (await who(file, query)).sessions.map((session) => session.conversation_key);
  expect(await keys('/r/src/')).toEqual(['b', 'a', 'd']);
  expect(await keys('/r/x/../src')).toEqual(['b', 'a', 'd']);
  expect(await keys('/r/src', `since=${now - 1500}`)).toEqual(['b']);
  expect(await keys('/')).toHaveLength(4);
  expect(await keys('/r/sr')).toEqual([]);
});

test('finds a path in truncated input, below the home folder, and relative to the folder of the call', async () => {
  await collector.ingest([
    tool('cut', '{"content":"\\"path\\": \\"/no\\"","file_path":"/r/\\u0061.ts","more":"'),
    tool('home', { file_path: '~/x.md' }),
    tool('relative', { absolute_path: './y.md' }, {}, { cwd: '/r' }),
  ]);
  const first = async (file: string) => (await who(file)).sessions[0]?.conversation_key;
  expect(await first('/r/a.ts')).toBe('cut');
  expect(await first(path.join(homedir(), 'x.md'))).toBe('home');
  expect(await first('/r/y.md')).toBe('relative');
  expect((await who('/no')).sessions).toEqual([]);
});

test('does not count queries and invalid paths as touches', async () => {
  await collector.ingest([
    tool('a', { path: '/r/a.ts' }, { text: 'mcp__svc-toolbelt__svc_who' }),
    tool('a', { path: '/r/a.ts' }, { text: 'mcp_svc_toolbelt_svc_who' }),
    tool('a', { path: 5, file_path: ['/r/\0'], paths: [null], command: 7 }),
    tool('a', { file_path: 'nobody/knows/where' }),
    tool('a', { file_path: `/${'x'.repeat(2000)}` }),
    { kind: 'tool', session: null, text: 'Edit', payload: { input: { path: '/r/a.ts' } } },
    { kind: 'tool_result', session: 'a', text: 'x', payload: { input: { path: '/r/a.ts' } } },
  ]);
  expect((await who('/')).sessions).toEqual([]);
});

test('counts a repeated event once', async () => {
  const event = tool('a', { file_path: '/r/a' }, { id: 'same' });
  await collector.ingest(event);
  await collector.ingest(event);
  expect((await who('/r/a')).sessions).toMatchObject([{ touches: 1 }]);
});

/** Many touches, as they are stored. */
function keep(count: number, touch: (i: number) => [session: string, path: string, at: number]): void {
  const insert = collector.context.db.raw.prepare("INSERT INTO touch VALUES (?, ?, NULL, 'Edit', 1, ?)");
  collector.context.db.raw.exec('BEGIN');
  for (let i = 0; i < count; i++) insert.run(...touch(i));
  collector.context.db.raw.exec('COMMIT');
}

test('truncates the answer for a folder with too much below it, and says so', async () => {
  keep(60_000, (i) => [`s${i % 300}`, `/big/${i}`, now]);
  const answer = await who('/big');
  expect([answer.truncated, answer.sessions.length]).toEqual([true, 100]);
  expect(answer.sessions.every(({ paths }) => paths.length <= 5)).toBe(true);
});

test('lists everything touched in a large folder since a time, whatever its name', async () => {
  keep(20_000, (i) => [`old${i}`, `/big/${i}`, now - 5_000_000 - i]);
  keep(12_000, (i) => [`else${i}`, `/elsewhere/${i}`, now - i]);
  keep(3, (i) => ['new', `/big/zz/${i}`, now - 20_000 + i]);
  const { sessions, truncated } = await who('/big', `since=${now - 1_000_000}`);
  expect(truncated).toBe(false);
  expect(sessions).toMatchObject([
    { conversation_key: 'new', touches: 3, last_at: now - 19_998, paths: [{ path: '/big/zz/2' }, {}, {}] },
  ]);
});

test('lists the newest touches in a folder with too much below it, and counts none twice', async () => {
  keep(60_000, (i) => [`s${i % 30}`, `/big/${i}`, now - i * 1000]);
  const { sessions, truncated } = await who('/big', 'since=0');
  expect(truncated).toBe(true);
  expect(sessions.slice(0, 3).map(({ conversation_key, last_at }) => [conversation_key, last_at])).toEqual([
    ['s0', now],
    ['s1', now - 1000],
    ['s2', now - 2000],
  ]);
  const touches = sessions.reduce((sum, session) => sum + session.touches, 0);
  const all = await collector.context.db.all<{ path: string }>(
    'SELECT path FROM touch WHERE last_at > ? UNION SELECT path FROM (SELECT path FROM touch ORDER BY path LIMIT 1000)',
    now - 5_000_000,
  );
  expect(touches).toBe(all.length);
});

test('finds sessions of a folder that was not touched for long', async () => {
  keep(3000, (i) => [`s${i}`, `/quiet/${i}`, now - 5_000_000]);
  keep(60_000, (i) => ['busy', `/busy/${i}`, now]);
  const { sessions, truncated } = await who('/quiet', 'since=0');
  expect([truncated, sessions.length]).toEqual([true, 100]);
});

test('deletes touches older than 30 days as new ones come', async () => {
  keep(1000, (i) => ['old', `/r/old/${i}`, now - 31 * 24 * 3_600_000]);
  for (let commit = 0; commit < 2; commit++)
    await collector.ingest(Array.from({ length: 500 }, (_, i) => tool('new', { file_path: `/r/${commit}/${i}` })));
  expect((await who('/r', 'since=0')).sessions.map((session) => session.conversation_key)).toEqual(['new']);
});

test.each([
  ['/api/who', 400],
  ['/api/who?path=relative', 400],
  ['/api/who?path=', 400],
  ['/api/who?path=/r&since=x', 400],
  ['/api/map?since=-1', 400],
  ['/api/map?since=0', 200],
])('%s answers %i', async (url, status) => {
  expect((await collector.app.inject(url)).statusCode).toBe(status);
});
