import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { toolPolicies } from '@svc/contract/trust.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { startAppServer } from './app-server.ts';
import { openModelCatalogs } from './model-catalog.ts';
import { createPolicyCheck } from './policy-check.ts';
import { startRequestRecorder } from './request-recorder.ts';
import { createFakeAppServer, type FakeAppServer } from './testing/fake-app-server.ts';

vi.mock('./app-server.ts');
vi.mock('./model-catalog.ts', async (original) => ({ ...(await original<object>()), openModelCatalogs: vi.fn() }));
vi.mock('./request-recorder.ts');

const never = new Promise<never>(() => undefined);
const nothing = { tools: [] };
const spawning = { tools: [{ type: 'function', name: 'spawn_agent' }] };

/** The tools that a model gets, by the order in which the policies are checked. */
let offers: (nth: number, model: string) => unknown;
let servers: FakeAppServer[];

beforeEach(() => {
  vi.resetAllMocks();
  offers = () => nothing;
  servers = [];
  vi.mocked(startRequestRecorder).mockImplementation(() => {
    const nth = servers.length;
    return Promise.resolve({
      urlOf: (name) => `http://x/${name}`,
      bodyOf: async (model) => offers(nth, model),
      close: () => Promise.resolve(),
    });
  });
  vi.mocked(startAppServer).mockImplementation(() => {
    const fake = createFakeAppServer({ 'thread/start': () => ({ thread: { id: 't' } }), 'turn/start': () => ({}) });
    servers.push(fake);
    return Promise.resolve({ ...fake.server, kill: () => (fake.fall(), Promise.resolve()) });
  });
});

function open() {
  const folder = temporaryFolder();
  const dir = folder.path;
  onTestFinished(() => folder.remove());
  const reader = path.join(dir, 'reader.json');
  writeFileSync(reader, JSON.stringify({ models: [{ slug: 'one' }, { slug: 'two' }] }));
  vi.mocked(openModelCatalogs).mockResolvedValue({ reader, writer: reader });
  const warn = vi.fn();
  const log = { debug: () => undefined, info: () => undefined, warn };
  const place = { packageDir: dir, emptyDir: dir, ownerHome: dir };
  const restart = () => createPolicyCheck({ program: 'codex', env: {}, cwd: dir, maxLine: 1000, log, place });
  const kept = () => readdirSync(dir).filter((name) => name.startsWith('policy-'));
  return { policies: restart(), restart, kept, warn, dir };
}

function fakeClock() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('checks a policy once, and reuses the result in a later process', async () => {
  const { policies, restart, kept, warn } = open();
  expect(await Promise.all([policies.run('none'), policies.run('none')])).toEqual([null, null]);
  expect(await restart().run('none')).toBeNull();
  expect(servers).toHaveLength(1);
  expect(kept()).toHaveLength(1);
  expect(warn).not.toHaveBeenCalled();
});

test('refuses a policy that does not hold for a model and names the model, but no other policy', async () => {
  offers = (nth, model) => (nth === 0 && model === 'two' ? spawning : nothing);
  const { policies, restart } = open();
  const fault = { policy: 'full', why: 'this version offers spawn_agent to two, which it forbids', isSure: true };
  expect(await policies.run('full')).toEqual(fault);
  expect(await policies.run('none')).toBeNull();
  expect(policies.known()).toEqual([fault]);
  expect(await restart().run('full')).toEqual(fault);
});

test('a model without a response delays only its own policy, once, and is asked again a minute later', async () => {
  fakeClock();
  offers = (nth, model) => (nth === 0 && model === 'one' ? never : nothing);
  const { policies, kept } = open();
  const hanging = policies.run('read');
  await vi.waitUntil(() => servers.length === 1);
  expect(await policies.run('none')).toBeNull();
  await vi.advanceTimersByTimeAsync(20_000);
  const fault = {
    policy: 'read',
    why: 'the tools that it offers to one could not be checked: it took longer than 20 s',
    isSure: false,
  };
  expect(await hanging).toEqual(fault);
  expect(await policies.run('read')).toEqual(fault);
  expect(servers).toHaveLength(2);
  expect(kept()).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await policies.run('read')).toBeNull();
  expect(policies.known()).toEqual([]);
});

test('a forbidden tool overrides a model that could not be asked', async () => {
  fakeClock();
  offers = (_nth, model) => (model === 'one' ? never : spawning);
  const { policies } = open();
  const fault = policies.run('none');
  await vi.waitUntil(() => servers.length === 1);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await fault).toMatchObject({ isSure: true, why: expect.stringContaining('spawn_agent to two') });
});

test('ends the check at once when the program ends', async () => {
  offers = () => never;
  const { policies } = open();
  const fault = policies.run('none');
  await vi.waitUntil(() => servers.length === 1);
  servers[0]?.fall('codex ended with code 1');
  expect(await fault).toMatchObject({ isSure: false, why: expect.stringContaining('ended with code 1') });
});

test('starts the program again at the next turn after a failed start', async () => {
  const { policies } = open();
  vi.mocked(startAppServer).mockRejectedValueOnce(new Error('no program'));
  await expect(policies.run('none')).rejects.toThrow('no program');
  expect(await policies.run('none')).toBeNull();
});

test('close() ends a running check and prevents others', async () => {
  offers = () => never;
  const { policies, warn } = open();
  const fault = policies.run('none');
  await vi.waitUntil(() => servers.length === 1);
  await policies.close();
  expect(await fault).toMatchObject({ isSure: false });
  expect(warn).not.toHaveBeenCalled();
  expect(await policies.run('full')).toMatchObject({ isSure: false, why: 'the engine is closed' });
  expect(servers).toHaveLength(1);
});

test.each(['', '{', 'null', '[]', '{"why":1}', '{"none":"of an earlier form"}'])(
  'ignores a stored result of %j',
  async (text) => {
    offers = () => spawning;
    const { policies, restart, kept, dir } = open();
    for (const policy of toolPolicies) await policies.run(policy);
    for (const name of kept()) writeFileSync(path.join(dir, name), text);
    expect(await restart().run('full')).toMatchObject({ isSure: true });
    expect(servers).toHaveLength(4);
  },
);
