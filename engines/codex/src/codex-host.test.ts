import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startAppServer } from './app-server.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { createCodexHost, endpointKey, type Lease } from './codex-host.ts';
import { openModelCatalogs } from './model-catalog.ts';
import { startResponsesShim } from './responses-shim.ts';
import { createFakeAppServer, type FakeAppServer } from './testing/fake-app-server.ts';

vi.mock('./app-server.ts');
vi.mock('./model-catalog.ts');
vi.mock('./responses-shim.ts');

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };

beforeEach(() => {
  vi.resetAllMocks();
  vi.mocked(openModelCatalogs).mockResolvedValue({ reader: 'r', writer: 'w' });
});

function open({ isByKey = true, baseUrl = null as string | null } = {}) {
  const host = createCodexHost(
    { program: '/nowhere/codex', packageDir: '/nowhere' },
    {
      baseUrl,
      env: {},
      warm: 0,
      maxLine: 1000,
      warmMemory: 1e9,
      log: quiet,
      programEnv: {},
      cwd: tmpdir(),
      isByKey,
    },
  );
  return host;
}

/** Each start of a program returns the next fake, once `started` resolves. */
function fakePrograms(
  started: () => Promise<void> = () => Promise.resolve(),
  answers: Parameters<typeof createFakeAppServer>[0] = {},
) {
  const fakes: FakeAppServer[] = [];
  vi.mocked(startAppServer).mockImplementation(async () => {
    const fake = createFakeAppServer(answers);
    fakes.push(fake);
    await started();
    return fake.server;
  });
  return fakes;
}

test('retries opening the shim at the next turn after a failure', async () => {
  vi.mocked(startResponsesShim)
    .mockRejectedValueOnce(new Error('EMFILE'))
    .mockResolvedValue({ url: 'http://127.0.0.1:1/v1', token: 't', close: () => Promise.resolve() });
  vi.mocked(startAppServer).mockRejectedValue(new Error('no program'));
  const host = open({ baseUrl: 'http://127.0.0.1:1' });
  onTestFinished(() => host.close());
  await expect(host.acquire()).rejects.toThrow('EMFILE');
  await expect(host.acquire()).rejects.toThrow('no program');
});

test('gives no more turns to a program that is being stopped', async () => {
  const fakes = fakePrograms();
  const host = open();
  const first = await host.acquire();
  void first.codex.server.kill();
  const second = await host.acquire();
  expect(second.codex.server).not.toBe(first.codex.server);
  expect(second.isWarm).toBe(false);
  expect(fakes).toHaveLength(2);
});

test('a turn that waits for a program that is stopped meanwhile gets another one', async () => {
  const fakes = fakePrograms();
  const host = open();
  const { codex } = await host.acquire();
  const waiting = host.acquire();
  void codex.server.stop();
  expect((await waiting).codex.server).toBe(fakes[1]?.server);
});

test('starts a program that ends at once only once per turn', async () => {
  const fakes = fakePrograms(() => {
    fakes.at(-1)?.fall('codex ended with code 1');
    return Promise.resolve();
  });
  const host = open();
  const { codex } = await host.acquire();
  await expect(codex.server.request('thread/start', {})).rejects.toThrow('ended with code 1');
  expect(fakes).toHaveLength(1);
});

test('close() waits for a retired program that has not ended yet', async () => {
  const [fakes, host] = [fakePrograms(), open()];
  const lease = await host.acquire();
  lease.retire();
  lease.release();
  let isClosed = false;
  const closed = host.close().then(() => (isClosed = true));
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  fakes[0]?.fall();
  await closed;
});

test('checks the login once per program', async () => {
  const read = vi.fn(() => ({ account: null, requiresOpenaiAuth: true }));
  fakePrograms(undefined, { 'account/read': read });
  const host = open({ isByKey: false });
  const leases = [await host.acquire(), await host.acquire()];
  expect(leases.map(({ codex }) => codex.isLoggedIn)).toEqual([false, false]);
  expect(read).toHaveBeenCalledOnce();
});

test('does not check the login with a key', async () => {
  fakePrograms();
  expect((await open().acquire()).codex.isLoggedIn).toBe(true);
});

test('stops a program that cannot report its login, and the next turn starts another one', async () => {
  const read = vi.fn(() => ({ account: {}, requiresOpenaiAuth: true }));
  read.mockImplementationOnce(() => {
    throw new Error('no account');
  });
  const fakes = fakePrograms(undefined, { 'account/read': read });
  const host = open({ isByKey: false });
  const failing = host.acquire();
  await expect.poll(() => fakes[0]?.server.ending.aborted).toBe(true);
  fakes[0]?.fall();
  await expect(failing).rejects.toThrow('no account');
  expect((await host.acquire()).codex.isLoggedIn).toBe(true);
});

test('sends the stored key, else that of the environment, to a remote endpoint, and none to a local one', () => {
  const [apiKey, env] = [new Secret('stored'), { OPENAI_API_KEY: 'of the environment' }];
  expect(endpointKey('https://openrouter.ai/api/v1', { apiKey, env })).toBe('stored');
  expect(endpointKey('https://openrouter.ai/api/v1', { apiKey: null, env })).toBe('of the environment');
  expect(endpointKey('https://openrouter.ai/api/v1', { apiKey: null, env: {} })).toBeNull();
  for (const local of ['http://127.0.0.1:1/v1', 'http://localhost:1/v1', 'http://[::1]:1/v1'])
    expect(endpointKey(local, { apiKey, env })).toBeNull();
});

/** Everything that can happen to a host, in any order; numbers select a turn or a program. */
const step = fc.oneof(
  fc.record({ type: fc.constant('ask' as const) }),
  fc.record({ type: fc.constantFrom('release', 'retire', 'stop', 'kill', 'fall', 'up'), at: fc.nat(5) }),
  fc.record({ type: fc.constant('pause' as const) }),
);

test('no turn gets a program that was ending when it asked, in any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 40 }), async (scheduler, steps) => {
      const fakes = fakePrograms(() => scheduler.schedule(Promise.resolve()));
      const host = open();
      const leases = new Set<Lease>();
      const asked: Promise<unknown>[] = [];
      for (const next of steps) {
        const at = 'at' in next ? next.at : 0;
        const lease = [...leases][at];
        const fake = fakes[at];
        if (next.type === 'ask') {
          const ended = new Set(fakes.filter(({ server }) => server.ending.aborted).map(({ server }) => server));
          asked.push(
            host.acquire().then((got) => {
              expect(ended.has(got.codex.server)).toBe(false);
              leases.add(got);
            }),
          );
        }
        if (next.type === 'release' && lease !== undefined && leases.delete(lease)) lease.release();
        if (next.type === 'retire') lease?.retire();
        if (next.type === 'stop') void fake?.server.stop();
        if (next.type === 'kill') void fake?.server.kill();
        if (next.type === 'fall') fake?.fall();
        if (next.type === 'up' && scheduler.count() > 0) await scheduler.waitOne();
        if (next.type === 'pause') await new Promise(setImmediate);
      }
      await scheduler.waitIdle();
      await Promise.all(asked);
      for (const lease of leases) lease.release();
      const closed = host.close();
      await expect.poll(() => fakes.every(({ server }) => server.ending.aborted)).toBe(true);
      for (const fake of fakes) fake.fall();
      await closed;
      expect(fakes.length).toBeLessThanOrEqual(Math.max(1, asked.length));
    }),
    { numRuns: 1000 },
  );
});
