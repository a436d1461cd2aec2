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
  expect((await svc('folder', 'untrust', 'repo')).out).toBe('It is trusted no more.\n');
  expect((await svc('folder', 'clear', '--channel', 'compat')).out).toBe('It is cleared.\n');
  expect((await svc('folder')).out).toContain('No folder is set');
});

test('what is wrong with a folder is said, and the command fails', async () => {
  const answer = await svc('folder', 'set', 'gone', '--tier', 'SACRED');
  expect(answer.code).toBe(1);
  expect(answer.err).toContain('it does not exist');
  expect((await svc('folder', 'trust', core.folder)).err).toContain("service's data folder");
  expect((await svc('session', 'set', 'compat:c1:never', '--cwd', 'repo')).err).toContain('There is no session');
});

test('a conversation gets a folder, shows it, and gives it back', async () => {
  const said = await fetch(`${core.url}/v2/handle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      channel: 'shell',
      conversation_key: 'shell:me',
      sender: { raw_id: userInfo().username },
      content: { text: 'hi' },
    }),
  });
  expect(said.status).toBe(200);
  expect(await svc('session', 'set', 'shell:me', '--cwd', 'repo', '--for', 'read')).toMatchObject({ code: 0, err: '' });
  expect((await svc('session', 'show', 'shell:me')).out).toContain(
    `set for the conversation: ${repo}, also for who may only read`,
  );
  expect((await svc('session', 'set', 'shell:me', '--cwd', 'none')).out).toContain('usual folder again');
});
