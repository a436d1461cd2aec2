import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Envelope } from '@svc/contract/envelope.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const key = 'compat:c1:key';
let core: TestCore;
let place: TemporaryFolder;
let repo: string;
let other: string;

beforeEach(async () => {
  core = await openTestCore();
  place = temporaryFolder();
  [repo = '', other = ''] = ['repo', 'other'].map((name) => path.join(realpathSync(place.path), name));
  for (const folder of [repo, other]) mkdirSync(folder);
  // A guest has the tool policy `none`, a known person `read`, the owner and trusted people `full`.
  await core.addPrincipal('gus', 'guest');
  await core.addPrincipal('kim', 'known');
  await core.addPrincipal('tom', 'trusted');
});
afterEach(async () => {
  await core.close();
  place.remove();
});

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
const call = (method: Method, url: string, payload?: object) =>
  core.app.inject({ method, url, ...(payload === undefined ? {} : { payload }) });
const setFor = (who: object, cwd: string | null) => call('PUT', '/v2/folders', { ...who, cwd });
const setSession = (cwd: string | null, more: object = {}, of = key) =>
  call('PATCH', `/v2/session/${encodeURIComponent(of)}`, { cwd, ...more });
const say = (sender = 'owner', over: Partial<Envelope> = {}) =>
  core.handle(envelope('hello', { sender: { raw_id: sender }, ...over }));
/** The folder that the engine of a turn worked in. */
const cwdOf = async (sender = 'owner', over: Partial<Envelope> = {}): Promise<string | undefined> => {
  const before = core.engine.requests.length;
  const answer = await say(sender, over);
  expect([answer.statusCode, answer.body]).toEqual([200, answer.body]);
  expect(core.engine.requests).toHaveLength(before + 1);
  return core.engine.requests.at(-1)?.cwd;
};
const workspace = () => path.join(core.folder, 'workspace');

describe('folder of a turn', () => {
  test('comes from the conversation, then the instance, channel and tier, then the workspace', async () => {
    expect(await cwdOf()).toBe(workspace());
    const folders = ['tier', 'channel', 'instance', 'conversation'].map((name) => path.join(other, name));
    for (const folder of folders) mkdirSync(folder);
    const [tier = '', channel = '', instance = '', conversation = ''] = folders;
    await setFor({ tier: 'SACRED' }, tier);
    expect(await cwdOf()).toBe(tier);
    await setFor({ channel: 'compat' }, channel);
    expect(await cwdOf()).toBe(channel);
    await setFor({ instance_id: 'c1' }, instance);
    expect(await cwdOf()).toBe(instance);
    await setSession(conversation);
    expect(await cwdOf()).toBe(conversation);
    await setSession(null);
    expect(await cwdOf()).toBe(instance);
    await setFor({ instance_id: 'c1' }, null);
    await setFor({ channel: 'compat' }, null);
    await setFor({ tier: 'SACRED' }, null);
    expect(await cwdOf()).toBe(workspace());
  });

  test('is not affected by that of another conversation, instance, channel or tier', async () => {
    await say('owner', { conversation_key: 'compat:c2:x' });
    await setSession(repo, {}, 'compat:c2:x');
    await setFor({ instance_id: 'c9' }, repo);
    await setFor({ channel: 'messenger' }, repo);
    await setFor({ tier: 'TRUSTED' }, repo);
    expect(await cwdOf()).toBe(workspace());
    expect(await cwdOf('owner', { conversation_key: 'compat:c2:x' })).toBe(repo);
    expect(await cwdOf('tom')).toBe(repo);
  });

  test('persists over turns and restarts', async () => {
    await say();
    await setSession(repo);
    expect(await cwdOf()).toBe(repo);
    const dataDir = core.crash();
    core = await openTestCore({ dataDir });
    expect(await cwdOf()).toBe(repo);
    expect((await call('GET', `/v2/session/${key}`)).json()).toMatchObject({
      cwd: repo,
      working_folder: { scope: 'conversation', path: repo, for: 'full' },
    });
  });

  test('follows a link to wherever it points at the time of the turn', async () => {
    const link = path.join(place.path, 'current');
    symlinkSync(repo, link);
    await setFor({ channel: 'compat' }, link);
    expect(await cwdOf()).toBe(repo);
    rmSync(link);
    symlinkSync(other, link);
    expect(await cwdOf()).toBe(other);
  });

  test('survives /new, and is cleared when the operator forgets the conversation', async () => {
    await say();
    await setSession(repo);
    expect((await core.handle(envelope('/new'))).json()).toMatchObject({ outcome: 'command' });
    expect(await cwdOf()).toBe(repo);
    expect((await call('DELETE', `/v2/session/${key}`)).statusCode).toBe(200);
    expect(await cwdOf()).toBe(workspace());
  });
});

describe('folder rights', () => {
  test('senders below full rights never work in a folder set for an instance, channel or tier', async () => {
    for (const who of [{ instance_id: 'c1' }, { channel: 'compat' }, { tier: 'KNOWN' }, { tier: 'GUEST' }]) {
      expect((await setFor(who, repo)).statusCode).toBe(200);
    }
    expect(await cwdOf('kim')).toContain('/workspaces/');
    expect(await cwdOf('gus')).toContain('/workspaces/');
  });

  test('the folder of a conversation is for senders with full rights, unless opened to readers', async () => {
    await say();
    await setSession(repo);
    expect(await cwdOf('kim')).toContain('/workspaces/');
    expect(await cwdOf('tom')).toBe(repo);
    await setSession(repo, { for: 'read' });
    expect(await cwdOf('kim')).toBe(repo);
    expect(await cwdOf('gus')).toContain('/workspaces/');
    await setSession(repo);
    expect(await cwdOf('kim')).toContain('/workspaces/');
  });

  test('in a group, people with full rights share the workspace; others share a folder of the conversation', async () => {
    const group = { conversation_key: 'compat:c1:group' };
    expect(await cwdOf('owner', group)).toBe(await cwdOf('tom', group));
    const kims = await cwdOf('kim', group);
    expect(kims).toContain('/workspaces/');
    expect(await cwdOf('gus', group)).toBe(kims);
    expect(await cwdOf('kim')).not.toBe(kims);
  });

  test('an envelope cannot name a folder', async () => {
    const claims = { cwd: repo, working_folder: { path: repo }, folder: repo, channel_context: { cwd: repo, target: 'x' } };
    expect(await cwdOf('owner', claims as Partial<Envelope>)).toBe(workspace());
    expect((await say('owner', { workspace: { checkout: repo } })).statusCode).toBe(422);
  });

  test('an operator message runs in the folder of the person whose session it is', async () => {
    await say('kim');
    await setFor({ channel: 'compat' }, repo);
    await call('POST', '/v2/inject', { conversation_key: key, text: 'go on' });
    expect(core.engine.requests.at(-1)?.cwd).toContain('/workspaces/');
  });
});

describe('unusable folder', () => {
  test('is rejected with the reason when it is set', async () => {
    await say();
    const cases: [string, string][] = [
      ['repo', 'not an absolute path'],
      ['/', 'root'],
      [core.folder, "service's data folder"],
      [path.dirname(core.folder), "service's data folder"],
      [path.join(place.path, 'gone'), 'does not exist'],
      [`${repo}/../repo`, '".."'],
    ];
    for (const [folder, why] of cases) {
      for (const answer of [await setSession(folder), await setFor({ channel: 'compat' }, folder)]) {
        expect(answer.statusCode).toBe(400);
        expect(answer.json<{ message: string }>().message).toContain(why);
      }
    }
    expect((await call('GET', '/v2/folders')).json()).toEqual({ folders: [], trusted: [] });
  });

  test('fails the turn before the engine starts, appears in /health, and recovers', async () => {
    await setFor({ channel: 'compat' }, repo);
    renameSync(repo, `${repo}-away`);
    const answer = await say();
    expect(answer.statusCode).toBe(422);
    const { message } = answer.json<{ message: string }>();
    expect(message).toContain('The working folder of this channel cannot be used: it does not exist.');
    expect(message).not.toContain(repo);
    expect(core.engine.requests).toHaveLength(0);
    expect((await call('GET', '/health')).json<{ notices: string[] }>().notices.join()).toContain(repo);
    expect((await call('GET', '/v2/folders')).json()).toMatchObject({ folders: [{ path: repo, fault: 'it does not exist' }] });
    // Senders without full rights do not work there.
    expect(await cwdOf('kim')).toContain('/workspaces/');
    renameSync(`${repo}-away`, repo);
    expect(await cwdOf()).toBe(repo);
    expect((await call('GET', '/health')).json<{ notices: string[] }>().notices.join()).not.toContain(repo);
  });

  test('is refused at the turn when its link has come to point into the data folder', async () => {
    const link = path.join(place.path, 'current');
    symlinkSync(repo, link);
    await setFor({ channel: 'compat' }, link);
    rmSync(link);
    symlinkSync(path.join(core.folder), link);
    expect((await say()).statusCode).toBe(422);
  });
});

describe('folder requests', () => {
  test.each([
    [{}],
    [{ cwd: '/srv' }],
    [{ channel: 'compat' }],
    [{ cwd: '/srv', channel: 'compat', tier: 'KNOWN' }],
    [{ cwd: '/srv', tier: 'UNKNOWN' }],
    [{ cwd: '/srv', tier: 'BLOCKED' }],
    [{ cwd: '/srv', channel: 'Bad Channel' }],
    [{ cwd: 5, channel: 'compat' }],
    [{ cwd: '', channel: 'compat' }],
    [{ cwd: '/srv', principal: 'anna' }],
    [{ cwd: '/srv', instance_id: 'a\nb' }],
    [{ cwd: '/srv', conversation_key: key }],
  ])('rejects %j', async (body) => {
    expect((await call('PUT', '/v2/folders', body)).statusCode).toBe(400);
  });

  test('an unknown conversation has no folder to set or clear', async () => {
    expect((await setSession(repo)).statusCode).toBe(404);
    expect((await setSession(null)).statusCode).toBe(404);
    await say();
    expect((await setSession(repo, { for: 'none' })).statusCode).toBe(400);
    expect((await setSession(repo, { mode: 1 })).statusCode).toBe(400);
    expect((await setSession(repo)).statusCode).toBe(200);
    await core.handle(envelope('/new'));
    expect((await setSession(other)).statusCode).toBe(200);
    expect((await setSession(null)).json()).toMatchObject({ ok: true, cleared: true });
  });

  test('each change is in the audit log once', async () => {
    await say();
    await setFor({ channel: 'compat' }, `${repo}//`);
    await setFor({ channel: 'compat' }, repo);
    await setFor({ channel: 'compat' }, other);
    await setFor({ channel: 'compat' }, null);
    expect((await setFor({ channel: 'compat' }, null)).json()).toMatchObject({ cleared: false });
    await call('POST', '/v2/folders/trusted', { path: repo });
    await call('POST', '/v2/folders/trusted', { path: repo });
    await call('DELETE', `/v2/folders/trusted?path=${encodeURIComponent(repo)}`);
    const { audit } = (await call('GET', '/trust/audit')).json<{ audit: { what: string; before: unknown; after: unknown }[] }>();
    const told = audit.filter(({ what }) => what.startsWith('folder_')).toReversed();
    const facts = { scope: 'channel', name: 'compat', for: 'full' };
    expect(told.map(({ what, before, after }) => [what, before, after])).toEqual([
      ['folder_set', null, { ...facts, path: repo }],
      ['folder_set', { ...facts, path: repo }, { ...facts, path: other }],
      ['folder_cleared', { ...facts, path: other }, null],
      ['folder_trusted', null, { path: repo }],
      ['folder_untrusted', { path: repo }, null],
    ]);
    const events = core.telemetry.events.filter(({ kind }) => kind === 'trust');
    expect(events.map(({ payload }) => (payload as { what: string }).what)).toEqual(told.map(({ what }) => what));
  });
});

describe('trusted folders', () => {
  const trust = (folder: string) => call('POST', '/v2/folders/trusted', { path: folder });
  const untrust = (folder: string) => call('DELETE', `/v2/folders/trusted?path=${encodeURIComponent(folder)}`);
  const isTrusted = async (sender = 'owner') => {
    await say(sender);
    return core.engine.requests.at(-1)?.trustedFolder;
  };

  test('are trusted and untrusted by the operator, by real path, across restarts', async () => {
    const link = path.join(place.path, 'link');
    symlinkSync(repo, link);
    await setFor({ channel: 'compat' }, repo);
    expect(await isTrusted()).toBe(false);
    expect((await trust(link)).json()).toMatchObject({ ok: true, folder: { path: repo } });
    expect((await call('GET', '/v2/folders/trusted')).json()).toMatchObject({ trusted: [{ path: repo }] });
    expect(await isTrusted()).toBe(true);
    const dataDir = core.crash();
    core = await openTestCore({ dataDir });
    expect(await isTrusted()).toBe(true);
    expect((await untrust(link)).statusCode).toBe(200);
    expect(await isTrusted()).toBe(false);
    expect((await untrust(repo)).statusCode).toBe(404);
  });

  test('are trusted only for turns with full rights', async () => {
    await say();
    await setSession(repo, { for: 'read' });
    await trust(repo);
    expect(await isTrusted()).toBe(true);
    expect(await isTrusted('kim')).toBe(false);
    expect(core.engine.requests.at(-1)?.cwd).toBe(repo);
  });

  test('do not extend trust to parent or child folders', async () => {
    const sub = path.join(repo, 'sub');
    mkdirSync(sub);
    await trust(repo);
    await setFor({ channel: 'compat' }, sub);
    expect(await isTrusted()).toBe(false);
    await setFor({ channel: 'compat' }, repo);
    await untrust(repo);
    await trust(sub);
    expect(await isTrusted()).toBe(false);
  });

  test('are not changed when a trusted link comes to point elsewhere', async () => {
    const link = path.join(place.path, 'link');
    symlinkSync(repo, link);
    await trust(link);
    rmSync(link);
    symlinkSync(other, link);
    await setFor({ channel: 'compat' }, link);
    expect(await isTrusted()).toBe(false);
  });

  test('can include the shared workspace, and can be untrusted after deletion', async () => {
    expect(await isTrusted()).toBe(false);
    expect((await trust(workspace())).statusCode).toBe(200);
    expect(await isTrusted()).toBe(true);
    expect((await trust(core.folder)).statusCode).toBe(400);
    await trust(repo);
    rmSync(repo, { recursive: true });
    expect((await untrust(repo)).statusCode).toBe(200);
  });

  test.each(['', 'relative', '/', '/nowhere/at/all'])('cannot include %j', async (folder) => {
    expect((await trust(folder)).statusCode).toBe(400);
  });
  test.each(['', '/nowhere/at/all'])('do not include %j, which cannot be untrusted', async (folder) => {
    expect((await untrust(folder)).statusCode).toBe(folder === '' ? 400 : 404);
  });
});

test('the folder made for a conversation is removed with it', async () => {
  const own = (await cwdOf('kim')) ?? '';
  expect(existsSync(own)).toBe(true);
  await core.handle(envelope('/new', { sender: { raw_id: 'kim' } }));
  expect(existsSync(own)).toBe(false);
  await say('kim');
  await call('DELETE', `/v2/session/${key}`);
  expect(readdirSync(path.join(core.folder, 'workspaces'))).toEqual([]);
});
