import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Delivery } from '@svc/contract/delivery.ts';
import { lastExitVariable } from '@svc/service-kit/exit-codes.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { waitFor } from '@svc/testing/house.ts';
import { dataDir, startCoreProcess } from './start-core-process.ts';

type Core = Awaited<ReturnType<typeof startCoreProcess>>;

/** `abort` and `hog` crash the process, `slow` takes until the others run; each run is recorded. */
const scriptText = (runs: string, go: string) => `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findCommand } from ${JSON.stringify(path.join(repositoryRoot, 'engines/offline/src/commands.ts'))};
export async function* respond(request, signal) {
  const { text } = request;
  appendFileSync(${JSON.stringify(runs)}, text + '\\n');
  while (!existsSync(${JSON.stringify(go)})) await sleep(10);
  if (text.startsWith('abort')) process.abort();
  if (text.startsWith('hog')) { const all = []; for (;;) all.push(new Array(500_000).fill(0)); }
  if (text.startsWith('slow')) await sleep(300);
  yield* findCommand('echo ' + text)(request, signal);
}`;

/** Starts cores one after another in a folder, as a supervisor does. */
function openHouse() {
  const dir = dataDir();
  const [runs, go, script] = ['runs', 'go', 'script.mjs'].map((name) => path.join(dir, name)) as [string, string, string];
  writeFileSync(runs, '');
  writeFileSync(script, scriptText(runs, go));
  const seed = { principals: [{ key: 'anna', role: 'owner', identifiers: [{ surface: 'compat', value: 'anna' }] }] };
  writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify(seed));
  let lastExit: string | null = null;
  const start = async (): Promise<Core> => {
    const core = await startCoreProcess(dir, {
      SVC_OFFLINE_SCRIPT: script,
      NODE_OPTIONS: '--max-old-space-size=128',
      ...(lastExit !== null && { [lastExitVariable]: lastExit }),
    });
    core.child.once('exit', (code, signal) => (lastExit = signal ?? String(code)));
    return core;
  };
  return {
    start,
    ran: () => readFileSync(runs, 'utf8').split('\n').filter(Boolean),
    letGo: () => writeFileSync(go, ''),
    lastExit: () => lastExit,
    /** Starts cores until one stays up. */
    async settle(max: number): Promise<Core> {
      for (let n = 0; n < max; n++) {
        const core = await start();
        const died = core.exited.then(() => true);
        const isQuiet = waitFor(
          async () => core.output().includes('core is ready') && (await isIdle(core)),
          15_000,
          () => `it does not become quiet:\n${core.output()}`,
          core.exited,
        ).then(
          () => false,
          () => true,
        );
        if (!(await Promise.race([died, isQuiet]))) return core;
        await core.exited;
      }
      throw new Error(`${max} cores have ended`);
    },
  };
}

const isIdle = async ({ url }: Core): Promise<boolean> => {
  const health = requestJson<{ active: number; waiting: number }>(`${url}/health`, { timeoutMs: 40_000 });
  return health.then(
    ({ body }) => body.active + body.waiting === 0,
    () => false, // it has ended, or is too busy to answer
  );
};

const say = ({ url }: Core, text: string) =>
  requestJson(`${url}/v2/handle`, {
    body: {
      conversation_key: `compat:${text}`,
      channel: 'compat',
      sender: { raw_id: 'anna' },
      message_id: text,
      content: { text },
      delivery: 'sync',
    },
    timeoutMs: 40_000,
  });

const left = async ({ url }: Core): Promise<string[]> => {
  const { body } = await requestJson<{ deliveries: Delivery[] }>(`${url}/v2/deliveries`, { timeoutMs: 40_000 });
  return body.deliveries.map(({ text }) => text).toSorted();
};

test('a message that takes all memory while it runs alone is not run a second time', async () => {
  const what = 'hog';
  const house = openHouse();
  house.letGo();
  const core = await house.start();
  await core.ready();
  await expect(say(core, what)).rejects.toThrow();
  await core.exited;
  expect(house.lastExit()).toBe('SIGABRT');
  const next = await house.settle(1);
  expect(house.ran()).toEqual([what]);
  await expect
    .poll(() => left(next))
    .toEqual([expect.stringContaining('ran out of memory or failed while it worked on this message')]);
  // A caller that sends the same message again gets an error, and it is not run either.
  expect((await say(next, what)).body).toMatchObject({ error: 'turn_interrupted' });
  expect(house.ran()).toEqual([what]);
});

test('of concurrent messages the one that crashes the service is isolated, and the others are answered', async () => {
  const house = openHouse();
  const core = await house.start();
  await core.ready();
  const texts = ['one', 'abort', 'slow', 'two'];
  const asked = texts.map((text) => say(core, text).catch(() => null));
  await waitFor(
    () => house.ran().length === texts.length,
    10_000,
    () => `only ${house.ran().join()} run`,
  );
  house.letGo();
  await Promise.all([...asked, core.exited]);
  const next = await house.settle(3);
  expect(house.ran().filter((text) => text === 'abort').length).toBeLessThanOrEqual(2);
  for (const text of ['one', 'slow', 'two']) expect((await say(next, text)).body).toMatchObject({ actions: [{ text }] });
  expect((await say(next, 'abort')).body).toMatchObject({ error: 'turn_interrupted' });
  expect(house.ran().filter((text) => text !== 'abort').length).toBeLessThanOrEqual(6);
});

test('messages interrupted by a kill from outside run again at once', async () => {
  const house = openHouse();
  const core = await house.start();
  await core.ready();
  const asked = ['one', 'two'].map((text) => say(core, text).catch(() => null));
  await waitFor(
    () => house.ran().length === 2,
    10_000,
    () => 'they do not run',
  );
  core.child.kill('SIGKILL');
  await Promise.all(asked);
  const next = await house.start();
  await next.ready();
  await waitFor(
    () => house.ran().length === 4,
    10_000,
    () => `only ${house.ran().join()} run`,
  );
  house.letGo();
  for (const text of ['one', 'two']) expect((await say(next, text)).body).toMatchObject({ actions: [{ text }] });
});
