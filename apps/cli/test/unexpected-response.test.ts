import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';
import { runSvc } from '@svc/testing/run-svc.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const folder = temporaryFolder();
const stranger = http.createServer((_request, response) => response.writeHead(404).end('<!DOCTYPE html>'));
beforeAll(async () => {
  stranger.listen(0, '127.0.0.1');
  await once(stranger, 'listening');
});
afterAll(() => {
  stranger.closeAllConnections();
  stranger.close();
  folder.remove();
});

const svc = (args: string[], more: Record<string, string>) =>
  runSvc(args, { env: { PATH: process.env['PATH'], HOME: folder.path, SVC_DATA_DIR: folder.path, ...more } });

test.each([
  ['CORE', ['chat', 'hello']],
  ['CORE', ['person']],
  ['MANAGER', ['connector']],
  ['COLLECTOR', ['usage']],
  ['COLLECTOR', ['session']],
])('when another program has the port of the %s, svc %j says so without a stack trace', async (name, args) => {
  const port = String((stranger.address() as AddressInfo).port);
  const { err } = await svc(args, { [`SVC_${name}_PORT`]: port });
  expect(err).toBe(
    [
      'svc: another program answers in place of the service.',
      `     The program at http://127.0.0.1:${port} is not part of this service.`,
      'Run: ./svc doctor\n',
    ].join('\n'),
  );
});

test.each([
  ['chat', ['chat', 'hello']],
  ['upload', ['upload', import.meta.filename]],
])(
  'an endless response does not fill the memory of svc %s',
  async (_name, args) => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    let isOver = false;
    const endless = http.createServer((_request, response) => {
      const write = () => void (!isOver && response.write(chunk, () => setImmediate(write)));
      response.on('close', () => (isOver = true)).writeHead(500);
      write();
    });
    const { url, close } = await listen(endless);
    onTestFinished(close);
    const { err } = await svc(args, { SVC_CORE_PORT: new URL(url).port });
    expect(err).toContain('another program answers in place of the service');
  },
  60_000,
);

test('adds a command to a refusal that names none', async () => {
  const body = JSON.stringify({ ok: false, error: 'conflict', message: 'It is no time for that.', request_id: 'r' });
  const { url, close } = await listen(http.createServer((_request, response) => response.writeHead(409).end(body)));
  onTestFinished(close);
  const { port } = new URL(url);
  const ran = [
    await svc(['backup', 'remove', 'bak_1'], { SVC_CORE_PORT: port }),
    await svc(['vault', 'seal'], { SVC_VAULT_PORT: port, SVC_VAULT_URL: url, SVC_VAULT_ADMIN_KEY: `vadmin_${'x'.repeat(43)}` }),
    await svc(['connector', 'list'], { SVC_MANAGER_PORT: port }),
  ];
  expect(ran.map(({ err }) => err.split('\n').slice(1))).toEqual(
    ['./svc backup list', './svc vault status', './svc doctor'].map((run) => ['     It is no time for that.', `Run: ${run}`, '']),
  );
});
