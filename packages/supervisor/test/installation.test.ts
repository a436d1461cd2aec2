import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { installationOf } from '../src/installation.ts';
import { describeOwner, findPortOwner } from '../src/port-owner.ts';

const program = `require('node:http').createServer().listen(0, '127.0.0.1', function () { process.send(this.address().port); });`;

test('names another installation on a port by its folder and its data, with spaces and umlauts', async ({ skip }) => {
  skip(process.platform !== 'linux', 'elsewhere the environment of a process is not to be seen');
  const folder = temporaryFolder();
  const root = path.join(folder.path, 'a b (c)/é');
  const entry = path.join(root, 'apps/core/src/main.ts');
  mkdirSync(path.dirname(entry), { recursive: true });
  writeFileSync(path.join(root, 'package.json'), '{"type":"commonjs"}');
  writeFileSync(entry, program);
  const dataDir = path.join(folder.path, 'dätä');
  const child = spawn(process.execPath, [entry], {
    env: { SVC_DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    folder.remove();
  });
  const [port] = (await once(child, 'message')) as [number];
  const owner = await findPortOwner(port);
  expect(owner).toMatchObject({ pid: child.pid, installation: { root, dataDir } });
  expect(describeOwner(owner)).toBe(`the Assistant Gateway in ${root} (data in ${dataDir}, process ${child.pid})`);
});

test.each([
  ['/usr/bin/node --x=1 /home/anna/a b (c)/é/apps/core/src/main.ts', '/home/anna/a b (c)/é'],
  ['/opt/node /srv/gw/packages/connector-kit/src/child-main.ts x', '/srv/gw'],
  ['/usr/bin/nginx -c /etc/nginx.conf', null],
  ['', null],
])('reads the folder from a command line that the system gives as one text: %s', async (line, root) => {
  expect((await installationOf(2 ** 30, line))?.root ?? null).toBe(root);
});

test('recognizes every program of ours', async () => {
  const root = path.resolve(import.meta.dirname, '../../..');
  const apps = readdirSync(path.join(root, 'apps')).map((name) => path.join(root, 'apps', name, 'src/main.ts'));
  const mains = apps.filter((file) => existsSync(file));
  expect(mains.length).toBeGreaterThan(5);
  const roots = await Promise.all(mains.map(async (file) => (await installationOf(2 ** 30, `/usr/bin/node ${file}`))?.root));
  expect(roots).toEqual(mains.map(() => root));
});
