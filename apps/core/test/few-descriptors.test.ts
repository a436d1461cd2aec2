import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(folder.remove);
const main = path.join(import.meta.dirname, '../src/main.ts');

test('a core with 256 descriptors still answers after more links and connections than that', async () => {
  const [port, collector, manager] = await freePorts(3);
  const ports = { SVC_CORE_PORT: String(port), SVC_COLLECTOR_PORT: String(collector), SVC_MANAGER_PORT: String(manager) };
  const env = {
    PATH: process.env['PATH'],
    HOME: folder.path,
    SVC_DATA_DIR: folder.path,
    SVC_DEFAULT_ENGINE: 'offline',
    ...ports,
  };
  const core = spawn('bash', ['-c', 'ulimit -n 256; exec "$0" "$1"', process.execPath, main], { env, stdio: 'ignore' });
  onTestFinished(() => void core.kill('SIGKILL'));
  const health = async () => (await fetch(`http://127.0.0.1:${port}/health`)).status;
  await expect.poll(() => health().catch(() => 0)).toBe(200);
  const open = (where: number | string) => {
    const socket = typeof where === 'number' ? connect(where, '127.0.0.1') : connect(where);
    onTestFinished(() => void socket.destroy());
    return new Promise((resolve) => socket.on('connect', resolve).on('error', resolve));
  };
  await Promise.all(Array.from({ length: 300 }, () => open(path.join(folder.path, 'run/core.sock'))));
  await Promise.all(Array.from({ length: 300 }, () => open(Number(port))));
  // An earlier keep-alive connection may be closed to make room just as it is reused.
  await expect.poll(() => health().catch(() => 0)).toBe(200);
  expect(core.exitCode).toBeNull();
});
