import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { FolderList } from '@svc/contract/folder.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const key = 'compat:c1:key';
let core: TestCore;
let place: TemporaryFolder;
let root: string;

beforeEach(async () => {
  core = await openTestCore();
  place = temporaryFolder();
  root = realpathSync(place.path);
});
afterEach(async () => {
  await core.close();
  place.remove();
});

const made = (name: string): string => {
  mkdirSync(path.join(root, name), { recursive: true });
  return path.join(root, name);
};
const put = (body: object) => core.app.inject({ method: 'PUT', url: '/v2/folders', payload: body });
const patch = (of: string, cwd: string | null, more: object = {}) =>
  core.app.inject({ method: 'PATCH', url: `/v2/session/${encodeURIComponent(of)}`, payload: { cwd, ...more } });
const say = (sender = 'owner', over: Partial<Envelope> = {}) =>
  core.handle(envelope('hi', { sender: { raw_id: sender }, ...over }));
const listed = async () => (await core.app.inject('/v2/folders')).json<FolderList>().folders;
const lastCwd = () => core.engine.requests.at(-1)?.cwd;

test('the last of several concurrent changes wins, and survives a restart', async () => {
  const folders = Array.from({ length: 20 }, (_, i) => made(`f${i}`));
  await Promise.all(folders.map((cwd) => put({ channel: 'compat', cwd })));
  const [before] = await listed();
  const dataDir = core.crash();
  core = await openTestCore({ dataDir });
  expect((await listed()).map(({ path: kept }) => kept)).toEqual([before?.path]);
});

test('folders can be set for instances with names such as __proto__ or %', async () => {
  const folder = made('a');
  for (const name of ['__proto__', 'constructor', '*', '%', "'; DROP TABLE session; --", 'ä'.repeat(128)]) {
    expect((await put({ instance_id: name, cwd: folder })).statusCode).toBe(200);
  }
  expect(await listed()).toHaveLength(6);
  await say();
  expect(lastCwd()).toBe(path.join(core.folder, 'workspace'));
});

test('a folder may have any name, and its path is used unchanged', async () => {
  for (const name of [
    "it's $(date) `x` %2e%2e",
    'é (NFC)',
    'e\u0301 (NFD)',
    '-rf',
    ' lead and trail ',
    '{"a":1}',
    'back\\slash',
  ]) {
    const folder = made(name);
    expect((await put({ channel: 'compat', cwd: folder })).statusCode).toBe(200);
    await say();
    expect(lastCwd()).toBe(folder);
  }
});

test('a path with half a surrogate pair is rejected', async () => {
  const answer = await core.app.inject({
    method: 'PUT',
    url: '/v2/folders',
    headers: { 'content-type': 'application/json' },
    payload: `{"channel":"compat","cwd":"/srv/\\ud800"}`,
  });
  expect(answer.statusCode).toBe(400);
});

test('a turn fails when a file has replaced its folder', async () => {
  const folder = made('a');
  await put({ channel: 'compat', cwd: folder });
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  expect((await say()).json()).toMatchObject({ error: 'unprocessable' });
});

test('a data folder behind a link is recognized by its real path', async () => {
  const link = path.join(root, 'data');
  const real = core.folder;
  symlinkSync(real, link);
  const dataDir = core.crash();
  rmSync(link);
  symlinkSync(dataDir, link);
  core = await openTestCore({ dataDir: link });
  for (const cwd of [dataDir, path.join(dataDir, 'run'), path.join(link, 'uploads'), path.dirname(dataDir)]) {
    expect((await put({ channel: 'compat', cwd })).statusCode).toBe(400);
  }
});

test('in a group the folder depends on the rights of each sender, within one session', async () => {
  await core.addPrincipal('kim', 'known');
  await core.addPrincipal('tom', 'trusted');
  const folder = made('a');
  await put({ instance_id: 'c1', cwd: folder });
  const seen: (string | undefined)[] = [];
  for (const sender of ['owner', 'kim', 'tom', 'kim']) {
    await say(sender);
    seen.push(lastCwd());
  }
  expect([seen[0], seen[2]]).toEqual([folder, folder]);
  expect(seen[1]).toBe(seen[3]);
  expect(seen[1]).toContain(`${core.folder}/workspaces/`);
  expect((await core.app.inject(`/v2/session/${key}`)).json()).toMatchObject({ turns: 4, working_folder: { scope: 'instance' } });
});

test('a turn resumed after a crash runs in the folder set by then', async () => {
  await say();
  const folder = made('a');
  await patch(key, folder);
  const begun = Promise.withResolvers<void>();
  core.engine.script(async function* () {
    begun.resolve();
    yield { type: 'delta', text: 'one' };
    await new Promise(() => undefined);
  });
  void say().catch(() => undefined);
  await begun.promise;
  const dataDir = core.crash();
  core = await openTestCore({ dataDir });
  await expect.poll(() => lastCwd()).toBe(folder);
});

test('a failed turn does not change the folder', async () => {
  const folder = made('a');
  await put({ channel: 'compat', cwd: folder });
  core.engine.script(async function* () {
    yield { type: 'failed', failure: { code: 'engine_failed', message: 'no', retryable: false } };
  });
  await say();
  expect(lastCwd()).toBe(folder);
  expect(await listed()).toMatchObject([{ path: folder, fault: null }]);
});

test('at most a thousand folders can be set', async () => {
  const folder = made('a');
  for (let i = 0; i < 1000; i++) {
    await core.context.folders.set('local', { scope: 'instance', name: `i${i}`, path: folder, for: 'full' });
  }
  expect((await put({ instance_id: 'more', cwd: folder })).statusCode).toBe(409);
  expect((await put({ instance_id: 'i5', cwd: made('b') })).statusCode).toBe(200);
  expect((await put({ instance_id: 'i6', cwd: null })).statusCode).toBe(200);
  expect((await put({ instance_id: 'more', cwd: folder })).statusCode).toBe(200);
  expect(await listed()).toHaveLength(1000);
});
