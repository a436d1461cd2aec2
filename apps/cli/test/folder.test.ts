import { spawn } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import type { FolderList } from '@svc/contract/folder.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = temporaryFolder();
const place = temporaryFolder();
const repo = path.join(realpathSync(place.path), 'repo');
let core: Awaited<ReturnType<typeof startCore>>;
let env: Record<string, string | undefined>;
let url: string;

beforeAll(async () => {
  mkdirSync(repo);
  const [corePort, manager, collector] = (await freePorts(3)) as [number, number, number];
  url = `http://127.0.0.1:${corePort}`;
  env = {
    PATH: process.env['PATH'],
    HOME: place.path,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    SVC_DATA_DIR: folder.path,
    SVC_CORE_PORT: String(corePort),
  };
  core = await startCore(folder.path, { core: corePort, manager, collector });
});
afterAll(async () => {
  core.child.kill('SIGKILL');
  await core.exited;
  folder.remove();
  place.remove();
});

async function svc(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const main = path.join(repositoryRoot, 'apps/cli/src/main.ts');
  const child = spawn(process.execPath, [main, ...args], { env, cwd: place.path });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out, err };
}

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
  expect((await svc('folder', 'trust', folder.path)).err).toContain("service's data folder");
  expect((await svc('session', 'set', 'compat:c1:never', '--cwd', 'repo')).err).toContain('There is no session');
});

test('a conversation gets a folder, shows it, and gives it back', async () => {
  const said = await fetch(`${url}/v2/handle`, {
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
