import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SupervisorState } from '@svc/contract/service.ts';
import { awaitLeftovers, checkPorts } from './before-start.ts';

const host = '127.0.0.1';

async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

const core = async () => ({ name: 'core', port: await takenPort(), setting: 'SVC_CORE_PORT' });
const dashboard = async () => ({
  name: 'dashboard',
  port: await takenPort(),
  setting: 'SVC_DASHBOARD_PORT',
  isOptional: true,
});

test('a taken port of an optional process does not prevent the start', async () => {
  await expect(checkPorts(host, [await dashboard()])).resolves.toBeUndefined();
});

test('a rejected start names every taken port, with one command that moves them all', async () => {
  const refused = checkPorts(host, [await core(), await dashboard()]);
  await expect(refused).rejects.toMatchObject({
    why: expect.stringContaining('(dashboard) is used by'),
    run: expect.stringMatching(/SVC_CORE_PORT=\d+.*SVC_DASHBOARD_PORT=\d+.*\.\/svc up$/s),
  });
});

test('rejects a start at an address that this machine does not have', async () => {
  const refused = checkPorts('192.0.2.1', [{ name: 'core', port: 3023, setting: 'SVC_CORE_PORT' }]);
  await expect(refused).rejects.toMatchObject({
    message: 'this machine has no address 192.0.2.1.',
    why: expect.stringContaining('SVC_BIND_HOST'),
  });
});

test('gives up when a process of an earlier start cannot be ended', async () => {
  // It leads no process group, so it is not killed.
  const env = { PATH: process.env['PATH'], SVC_DATA_DIR: '/data' };
  const child = spawn('sh', ['-c', 'read -r line', '/gone/apps/core/src/main.ts'], { stdio: ['pipe', 'ignore', 'ignore'], env });
  await once(child, 'spawn');
  onTestFinished(() => void child.kill('SIGKILL'));
  const last = { services: [{ pid: child.pid }] } as SupervisorState;
  const options = {
    entries: ['/gone/apps/core/src/main.ts'],
    home: '/gone',
    dataDir: '/data',
    waitMs: 50,
    killedMs: 50,
    onWait: () => undefined,
  };
  await expect(awaitLeftovers(last, options)).rejects.toMatchObject({
    message: 'processes of an earlier start cannot be ended.',
    why: expect.stringContaining(String(child.pid)),
    run: expect.stringContaining(String(child.pid)),
  });
});

test('leaves a process of another data folder alone, even when it now has a pid of an earlier start', async () => {
  const env = { PATH: process.env['PATH'], SVC_DATA_DIR: '/other data' };
  const child = spawn('sh', ['-c', 'read -r line', '/gone/apps/core/src/main.ts'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env,
    detached: true,
  });
  await once(child, 'spawn');
  onTestFinished(() => void child.kill('SIGKILL'));
  const last = { services: [{ pid: child.pid }] } as SupervisorState;
  const waited = vi.fn();
  const options = { entries: ['/gone/apps/core/src/main.ts'], home: '/gone', dataDir: '/data', waitMs: 50, onWait: waited };
  await awaitLeftovers(last, options);
  expect([waited.mock.calls, child.signalCode]).toEqual([[], null]);
});
