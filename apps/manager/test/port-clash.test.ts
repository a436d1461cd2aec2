import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { Instance } from '@svc/contract/instance.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openKitManager, type OpenManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

let manager: OpenManager;
beforeEach(async () => {
  manager = await openKitManager();
});
afterEach(() => manager.close());

async function create(port: number): Promise<Instance> {
  const body = { type: 'postbox', name: 'Box', enabled: true, config: { own_server: true, port } };
  return (await manager.call('POST', '/instances', body)).body['instance'] as Instance;
}
const read = async (id: string) => (await manager.call('GET', `/instances/${id}`)).body['instance'] as Instance;
const reasonOf = (id: string, word: string) =>
  eventually(
    async () => (await read(id)).last_exit?.reason ?? '',
    (reason) => reason.includes(word),
  );

test('[M10] an instance whose port another instance uses fails alone, and names that instance', async () => {
  const first = await create(0);
  const second = await create(first.port ?? 0);
  expect(await reasonOf(second.id, 'the instance')).toBe(
    `Port ${first.port} is in use by the instance "${first.id}". Stop it or choose another port for this instance.`,
  );
  expect(await read(first.id)).toMatchObject({ status: 'running', pid: first.pid, restarts: 0, healthy: true });
  await manager.call('POST', `/instances/${first.id}/stop`);
  // A start would join a try that is under way, and may have met the port while it was taken.
  expect((await manager.call('POST', `/instances/${second.id}/restart`)).body['instance']).toMatchObject({ status: 'running' });
});

test('[M10] an instance whose port another program uses names the program', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const { id } = await create(port);
    expect(await reasonOf(id, `(process ${process.pid})`)).toContain(`Port ${port} is in use by `);
  } finally {
    server.close();
  }
});

test('[M10] secrets in the command line of that program are masked', async () => {
  const listen = "require('net').createServer().listen(0, '127.0.0.1', function () { process.send(this.address().port) })";
  const secret = `ghp_${'aB3dE5gH7jK9'.repeat(3)}`;
  const program = spawn(process.execPath, ['-e', listen, '--', `--token=${secret}`], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  try {
    const [port] = (await once(program, 'message')) as [number];
    const { id } = await create(port);
    const reason = await reasonOf(id, `(process ${program.pid})`);
    expect(reason).toContain('--token=');
    expect(reason).not.toContain(secret.slice(0, 12));
  } finally {
    program.kill();
  }
});
