import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';

let house: House;
let client: OpenAI;

async function open(): Promise<void> {
  house = await openHouse();
  client = new OpenAI({ baseURL: `${house.urls.compat}/v1`, apiKey: house.key(), maxRetries: 0, timeout: 40_000 });
}
beforeAll(open);
/** Starts the service again after a test that has ended it. */
beforeEach(async () => {
  if (isAlive(house.pid)) return;
  await house.stop();
  await open();
});
afterAll(() => house.stop());

const serves = async (url: string): Promise<boolean> => {
  try {
    await house.get(`${url}/health`);
    return true;
  } catch {
    return false;
  }
};

/** A streamed turn that takes a while; its text. */
async function streamReply(): Promise<string> {
  const stream = await client.chat.completions.create({
    model: 'svc',
    stream: true,
    messages: [{ role: 'user', content: 'wait 0.8 done' }],
  });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  return text;
}

const turnsRun = async () => (await house.get<{ active: number }>(`${house.urls.core}/health`)).active > 0;

/** How a client sees the end: the reply, or an error as text. */
const ending = async (rest: Promise<string>): Promise<string> => {
  try {
    return await rest;
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
};

async function ask(): Promise<string | null | undefined> {
  const reply = await client.chat.completions.create({ model: 'svc', messages: [{ role: 'user', content: 'echo still here' }] });
  return reply.choices[0]?.message.content;
}

describe('service with killed processes', () => {
  test('no event is lost while the collector is down', async () => {
    const replies = async () => {
      const { events } = await house.get<{ events: TelemetryEvent[] }>(`${house.urls.collector}/api/events?limit=1000`);
      return events.filter((event) => event.kind === 'outbound').length;
    };
    const before = await replies();
    signalProcess(house.pidOf('collector'), 'SIGKILL');
    const turns = 20;
    for (let i = 0; i < turns; i++) await ask();
    await expect.poll(() => replies().catch(() => 0)).toBe(before + turns);
  });

  // That of the core is seen in restart.test.ts.
  test.each(['manager', 'collector', 'compat'])(
    'kill -9 of the %s during a stream: the other processes continue, and it restarts within 20 s',
    async (name) => {
      const before = name === 'compat' ? await house.compatPid() : house.pidOf(name);
      const child = await house.compatPid();
      const reply = ending(streamReply());
      await waitFor(turnsRun, 5000, () => 'no turn runs');
      signalProcess(before, 'SIGKILL');
      const since = Date.now();
      const pid = async () => (name === 'compat' ? house.compatPid().catch(() => 0) : house.pidOf(name));
      const url = house.urls[name as keyof House['urls']];
      await waitFor(
        async () => ![0, before].includes(await pid()) && (await serves(url)),
        5000,
        () => `${name} is not back`,
      );
      expect(Date.now() - since).toBeLessThan(20_000);

      const end = await reply;
      if (name === 'collector') expect(end).toBe('done');
      else expect(end).toMatch(/done|error: /);
      if (name === 'manager')
        await waitFor(
          () => !isAlive(child),
          5000,
          () => 'the connector of the killed manager lives on',
        );
      await waitFor(
        () => serves(house.urls.compat),
        5000,
        () => 'the connector is not back',
      );
      await expect.poll(() => ask().catch(String)).toBe('still here');
    },
  );
});

const pids = async () => [...['core', 'manager', 'collector'].map((name) => house.pidOf(name)), await house.compatPid()];

test('no process is left when the supervisor is killed', async () => {
  const all = await pids();
  signalProcess(house.pid, 'SIGKILL');
  await waitFor(
    () => !all.some(isAlive),
    15_000,
    () => `left: ${all.filter(isAlive).join(', ')}`,
  );
});
