import { mkdirSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import type { FolderList } from '@svc/contract/folder.ts';
import { startCliCore, type CliCore } from '@svc/testing/run-svc.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const place = temporaryFolder();
const repo = path.join(realpathSync(place.path), 'repo');
let core: CliCore;

beforeAll(async () => {
  mkdirSync(repo);
  core = await startCliCore({ home: place.path });
});
afterAll(async () => {
  await core.close();
  place.remove();
});

const svc = (...args: string[]) => core.svc(args, { cwd: place.path });

test('folders are set, listed, trusted and cleared, by paths as they are typed', async () => {
  expect(await svc('folder', 'set', 'repo', '--channel', 'compat')).toMatchObject({ code: 0, err: '' });
  expect(await svc('folder', 'trust', '~/repo')).toMatchObject({ code: 0, err: '' });
  const { folders, trusted } = JSON.parse((await svc('folder', '--json')).out) as FolderList;
  expect(folders).toMatchObject([{ scope: 'channel', name: 'compat', path: repo, for: 'full', fault: null }]);
  expect(trusted).toMatchObject([{ path: repo }]);
  expect((await svc('folder', 'untrust', 'repo')).out).toBe('It is no longer trusted.\n');
  expect((await svc('folder', 'clear', '--channel', 'compat')).out).toBe('It is cleared.\n');
  expect((await svc('folder')).out).toContain('No folder is set');
});

test('a command with an invalid folder or an unknown session fails with the reason', async () => {
  const answer = await svc('folder', 'set', 'gone', '--tier', 'SACRED');
  expect(answer.code).toBe(1);
  expect(answer.err).toContain('it does not exist');
  expect((await svc('folder', 'trust', core.folder)).err).toContain("service's data folder");
  expect((await svc('session', 'set', 'compat:c1:never', '--cwd', 'repo')).err).toContain('There is no session');
  for (const [verb = '', ...words] of [['inject', 'hi'], ['claim']])
    expect((await svc('session', verb, 'compat:c1:never', ...words)).err).toContain('\nRun: ./svc session list --all\n');
});

const say = (text: string): Promise<Response> =>
  fetch(`${core.url}/v2/handle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      channel: 'shell',
      conversation_key: 'shell:me',
      sender: { raw_id: userInfo().username },
      content: { text },
    }),
  });

test('the folder of a conversation is set, shown and reset', async () => {
  expect((await say('hi')).status).toBe(200);
  expect(await svc('session', 'set', 'shell:me', '--cwd', 'repo', '--for', 'read')).toMatchObject({ code: 0, err: '' });
  expect((await svc('session', 'show', 'shell:me')).out).toContain(
    `set for the conversation: ${repo}, also for who may only read`,
  );
  expect((await svc('session', 'set', 'shell:me', '--cwd', 'none')).out).toContain('usual folder again');
});

test('a conversation is named, read, steered and forgotten', async () => {
  const session = async (verb: string, ...words: string[]) => (await svc('session', verb, 'shell:me', ...words)).out;
  expect(await session('title')).toBe('hi (the first words)\n');
  expect(await session('title', 'My', 'own', 'title')).toBe('My own title (given by a person)\n');
  expect(await session('show')).toMatch(/^My own title\n {2}shell:me\n/);
  const running = say('wait 50 too long');
  await expect.poll(() => session('history')).toMatch(/, running\n {6}wait 50 too long/);
  expect(await session('abort')).toBe('Its turn is stopped.\n');
  expect((await running).status).toBe(200);
  expect(await session('history')).toMatch(/, stopped\n {6}wait 50 too long/);
  expect(await session('inject', 'echo', 'from the operator')).toMatch(/^from the operator\n\nIt has not reached the channel: /);
  expect(await session('history', '--limit', '1')).toMatch(/^There is more before this: --before \d+\n.*operator \(operator\)/);
  expect(await session('claim', '--by', 'anna')).toMatch(
    /^Claimed by anna\. .* .\/svc session release shell:me\n {2}offline session \S+, in \//,
  );
  expect((await svc('session', 'inject', 'shell:me', 'echo', 'x')).err).toContain('claimed by anna');
  expect(await session('release')).toBe('It is released.\n');
  expect(JSON.parse(await session('title', 'none', '--json'))).toMatchObject({ ok: true, title: 'hi', title_by: 'words' });
  expect(await session('forget')).toBe('It is forgotten, with its files.\n');
  for (const verb of ['show', 'history', 'title', 'forget', 'release']) {
    expect((await svc('session', verb, 'shell:me')).err).toContain('There is no session');
  }
  expect((await svc('session', 'abort', 'shell:me')).err).toContain('nothing was stopped');
});
