import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { fixOfInstance } from './fixes.ts';

const host = '127.0.0.1';
const compat = {
  id: 'compat',
  type: 'compat',
  status: 'failed' as const,
  heartbeat: 'fresh' as const,
  config: { port: 3025, model_name: 'x' },
};

test('the port of a connector is moved to a free one', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  const fix = await fixOfInstance({ ...compat, config: { port } }, `Port ${port} is in use by another program.`, host);
  const free = Number(/^\.\/svc connector config compat --set port=(\d+)$/.exec(fix)?.[1]);
  expect(free).not.toBe(port);
  const probe = createServer();
  await new Promise<void>((resolve, reject) => void probe.once('error', reject).listen(free, '127.0.0.1', resolve));
  probe.close();
  taken.close();
});

const noKeys = 'The keys file lets nobody in: it does not exist.';
test.each([
  ['failed', 'bad token', /^\.\/svc connector restart compat$/],
  ['stopped', null, /^\.\/svc connector restart compat$/],
  ['backoff', 'crashed', /^\.\/svc connector logs compat$/],
  ['running', 'the mailbox refuses', /^\.\/svc connector logs compat$/],
  ['running', noKeys, /^\.\/svc key create api --connector compat$/],
] as const)('the fix for an instance that is %s because of %s', async (status, reason, fix) => {
  expect(await fixOfInstance({ ...compat, status }, reason, host)).toMatch(fix);
});

test('a hanging instance is restarted, as its log would not help', async () => {
  const hangs = { ...compat, status: 'running' as const, heartbeat: 'stale' as const };
  expect(await fixOfInstance(hangs, 'has been silent for 2 min', host)).toBe('./svc connector restart compat');
});
