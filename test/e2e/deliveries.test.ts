import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Delivery, DeliveryPage } from '@svc/contract/delivery.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { Route } from '../../apps/core/src/delivery/delivery-store.ts';
import { openTestCore, type TestCore } from '../../apps/core/test/open-test-core.ts';

const mainFile = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');
const folder = temporaryFolder();
const key = 'messenger:m1:user:1';
let house: House;

beforeAll(async () => {
  const anna = { key: 'anna', role: 'known', identifiers: [{ surface: 'messenger', value: '1' }] };
  writeFileSync(path.join(folder.path, 'trust.seed.json'), JSON.stringify({ principals: [anna] }));
  house = await openHouse({ dataDir: folder.path });
  const message = { channel: 'messenger', conversation_key: key, sender: { raw_id: '1' }, channel_context: { channelId: '1' } };
  await house.post(`${house.urls.core}/v2/handle`, { ...message, content: { text: 'echo hello' } });
});
afterAll(async () => {
  await house.stop();
  folder.remove();
});

type Ended = { code: number; out: string; err: string };

/** Runs `svc` as a shell does, on the data folder of the house unless told otherwise. */
const svc = (args: string[], dataDir = folder.path, corePort = 1): Promise<Ended> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env['PATH'],
      HOME: folder.path,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      SVC_DATA_DIR: dataDir,
      SVC_CORE_PORT: String(corePort),
      SVC_DASHBOARD: 'off',
    };
    const child = execFile(process.execPath, [mainFile, ...args], { env, timeout: 60_000 }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });

const deliveries = async (): Promise<Delivery[]> =>
  (await house.get<DeliveryPage>(`${house.urls.core}/v2/deliveries`)).deliveries;

/** Injects a message whose reply goes to a connector instance that does not exist; returns the id of its delivery. */
async function failDelivery(text: string): Promise<string> {
  await house.post(`${house.urls.core}/v2/inject`, { conversation_key: key, text: `echo ${text}` });
  const [newest] = await deliveries();
  expect(newest).toMatchObject({ state: 'failed', text });
  return newest?.id ?? '';
}

test('svc delivery says when there are none, and svc status does not mention them', async () => {
  expect(await svc(['delivery'])).toMatchObject({ code: 0, out: expect.stringContaining('There are none') as string });
  const { code, out } = await svc(['status']);
  expect(code).toBe(0);
  expect(out).toContain('turns       0 running, 0 waiting');
  expect(out).not.toContain('deliver');
});

test('svc delivery lists an undeliverable reply with its details until it is dismissed', async () => {
  const id = await failDelivery('good morning');
  const { code, out } = await svc(['delivery']);
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`${id}   failed, 1 attempt, made \\d+ s ago`));
  expect(out).toContain(`${key}, to 1 over m1`);
  expect(out).toContain('the manager answered 404');
  expect(out).toContain('"good morning"');
  const status = await svc(['status']);
  expect(status.code).toBe(0);
  expect(status.out.match(/^.*\.\/svc delivery.*$/gm)).toEqual(['              1 reply could not be delivered: ./svc delivery']);
  expect(await svc(['delivery', 'dismiss', id])).toMatchObject({ code: 0, out: '1 reply is off the list.\n' });
  expect((await svc(['delivery'])).out).toContain('There are none');
  expect((await svc(['status'])).out).not.toContain('deliver');
});

test('svc delivery retry tries a reply again', async () => {
  const id = await failDelivery('once more');
  expect(await svc(['delivery', 'retry', id])).toMatchObject({
    code: 0,
    out: expect.stringContaining('1 reply is tried') as string,
  });
  const triedTwice = async () => (await deliveries())[0]?.attempts === 2;
  await waitFor(triedTwice, 5000, () => 'it is not tried again');
  await svc(['delivery', 'dismiss', id]);
});

test('svc delivery --json prints the list and what was done; retry and dismiss take "all"', async () => {
  const ids = [await failDelivery('one'), await failDelivery('two')];
  const list = JSON.parse((await svc(['delivery', '--json'])).out) as DeliveryPage;
  expect(list).toMatchObject({ failed: 2, pending: 0 });
  expect(list.deliveries.map(({ id }) => id)).toEqual(ids.toReversed());
  const retried = JSON.parse((await svc(['delivery', 'retry', 'all', '--json'])).out) as { done: string[] };
  expect(retried).toEqual({ ok: true, done: ids.toReversed(), refused: [], skipped: [] });
  const settled = async () => (await deliveries()).every(({ state, attempts }) => state === 'failed' && attempts === 2);
  await waitFor(settled, 5000, () => 'they are not tried again');
  expect(await svc(['delivery', 'dismiss', 'all'])).toMatchObject({ code: 0, out: '2 replies are off the list.\n' });
  expect(await svc(['delivery', 'dismiss', 'all'])).toMatchObject({ code: 0, out: 'There is nothing to dismiss.\n' });
});

test.each([
  ['an unknown id', ['retry', 'dlv_x'], 'nothing was tried again', './svc delivery --all'],
  ['an unknown id', ['dismiss', 'dlv_x'], 'nothing was dismissed', './svc delivery --all'],
])('%s (%j) exits with code 1 and says what to run', async (_what, args, text, help) => {
  const { code, err } = await svc(['delivery', ...args]);
  expect(code).toBe(1);
  expect(err).toContain(text);
  expect(err).toContain(`Run: ${help}`);
});

test('a missing id is a usage error with exit code 2', async () => {
  const { code, err } = await svc(['delivery', 'retry']);
  expect([code, err]).toEqual([2, expect.stringMatching(/missing required argument 'ids'\nRun: .*delivery retry --help/)]);
});

test('svc delivery dismiss --json prints a refusal as JSON', async () => {
  const { code, out } = await svc(['delivery', 'dismiss', 'dlv_x', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ ok: false, done: [], refused: [{ id: 'dlv_x' }] });
});

test('svc delivery says when the service is not running', async () => {
  const { code, err } = await svc(['delivery'], path.join(folder.path, 'elsewhere'));
  expect(code).toBe(1);
  expect(err).toContain('the service is not running');
  expect(err).toContain('./svc up');
});

describe('many deliveries, one of them delivered, one without a target', () => {
  const many = 203;
  let core: TestCore;
  let port: number;
  let homeless: string;
  const ofCore = (args: string[]) => svc(args, core.folder, port);
  const listed = async (args: string[]) =>
    (JSON.parse((await ofCore(['delivery', '--json', ...args])).out) as DeliveryPage).deliveries;

  beforeAll(async () => {
    core = await openTestCore({
      sendToChannel: ({ text }) =>
        Promise.resolve(text === 'fine' ? { delivered: true } : { delivered: false, permanent: true, error: 'no such room' }),
    });
    port = Number(new URL(await core.app.listen({ host: '127.0.0.1', port: 0 })).port);
    homeless = (await push('nowhere', null)).id;
    for (let i = 0; i < many; i++) await push(`lost ${i}`, { instance_id: 'm1', target: String(i) });
    await push('fine', { instance_id: 'm1', target: 'fine' });
    await settled();
  });
  afterAll(() => core.close());

  const settled = () =>
    waitFor(
      () => core.context.outbox.counts().pending === 0,
      10_000,
      () => 'the deliveries do not settle',
    );

  const push = (text: string, route: Route | null) => {
    const about = { turn_id: 'turn_1', turn_seq: 0, conversation_key: key };
    return core.context.outbox.push({ ...about, route, text, injected: false, error: null });
  };

  test('delivered ones are listed only with --all', async () => {
    expect((await ofCore(['delivery'])).out).not.toContain('"fine"');
    expect((await ofCore(['delivery', '--all'])).out).toContain('"fine"');
  });

  test('the text output lists the newest 50 and mentions the older ones; --json lists all', async () => {
    const { out } = await ofCore(['delivery']);
    expect(out.match(/failed, 1 attempt/g)).toHaveLength(50);
    expect(out).toContain('There are older ones: ./svc delivery --json shows all.');
    const texts = (await listed([])).map(({ text }) => text);
    expect(texts).toEqual([...Array.from({ length: many }, (_, i) => `lost ${many - 1 - i}`), 'nowhere']);
    expect(await listed(['--all'])).toHaveLength(many + 2);
  });

  test('retry all skips a reply without a target; dismiss all takes every failed one', async () => {
    const retried = JSON.parse((await ofCore(['delivery', 'retry', 'all', '--json'])).out) as { done: string[] };
    expect(retried).toMatchObject({ ok: true, refused: [], skipped: [homeless] });
    expect(retried.done).toHaveLength(many);
    await settled();
    for (const { id, attempts } of await listed([])) expect([id, attempts]).toEqual([id, id === homeless ? 0 : 2]);
    expect((await ofCore(['delivery', 'dismiss', 'all'])).out).toBe(`${many + 1} replies are off the list.\n`);
    expect(await listed([])).toEqual([]);
    expect(await listed(['--all'])).toHaveLength(1);
  });
});
