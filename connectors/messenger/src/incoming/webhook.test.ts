import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openWebhook } from './webhook.ts';
import { followBot } from './follow-bot.ts';

const url = 'https://home.example/telegram';

/** A webhook with a fake Telegram that answers with `info`. `look`: lets the next check pass. */
async function setUp() {
  const clock = createFakeClock();
  const calls: { method: string; params: Record<string, unknown> }[] = [];
  const problems: (string | null)[] = [];
  const stopping = new AbortController();
  const telegram = { info: { url } as Record<string, unknown> };
  const ask = async (method: string, params: object) => {
    calls.push({ method, params: { ...params } });
    return method === 'getWebhookInfo' ? telegram.info : true;
  };
  const webhook = await openWebhook({
    api: { ask: ask as never },
    url,
    port: 0,
    take: async () => undefined,
    onProblem: (problem) => void problems.push(problem),
    clock,
    signal: stopping.signal,
    log: () => undefined,
    version: { service: 'test', version: '0.0.0', channel: 'stable', sha: '', started_at: 0, node: '' },
    allowedHosts: [],
  });
  onTestFinished(async () => {
    stopping.abort();
    await webhook.stop(1000);
  });
  const settle = async () => {
    for (let turn = 0; turn < 8; turn++) await nextTurn();
  };
  await settle();
  const look = async () => {
    clock.advance(60_000);
    await settle();
  };
  return { clock, calls, problems, telegram, look, methods: () => calls.map(({ method }) => method) };
}

test('reports a webhook set by another program, and sets it again with the same secret', async () => {
  const { calls, problems, telegram, look, methods } = await setUp();
  telegram.info = { url: 'https://elsewhere.example/' };
  await look();
  expect(methods()).toEqual(['setWebhook', 'getWebhookInfo', 'setWebhook']);
  expect(calls[2]).toEqual(calls[0]);
  expect(calls[0]?.params).toMatchObject({ url, secret_token: expect.stringMatching(/^[\w-]{43}$/) });
  expect(problems.at(-1)).toBe('Another program had taken over the webhook of this bot. It was set again. Stop that program.');
  telegram.info = { url };
  await look();
  expect([methods().at(-1), problems.at(-1)]).toEqual(['getWebhookInfo', null]);
});

test('reports failed deliveries while they are recent', async () => {
  const { clock, problems, telegram, look } = await setUp();
  telegram.info = { url, last_error_date: Math.floor(clock.now() / 1000), last_error_message: 'Connection refused' };
  await look();
  expect(problems.at(-1)).toBe('Telegram cannot deliver its updates to webhook_url: Connection refused');
  for (let n = 0; n < 4; n++) await look();
  expect(problems.at(-1)).toBeNull();
});

test('without webhook_url, deletes an earlier webhook before polling', async () => {
  const stopping = new AbortController();
  const asked: string[] = [];
  const ask = async (method: string) => {
    asked.push(method);
    if (method !== 'getUpdates') return true;
    stopping.abort();
    return [];
  };
  await followBot({
    api: { ask: ask as never },
    take: async () => undefined,
    caughtUp: () => undefined,
    onProblem: () => undefined,
    signal: stopping.signal,
    log: () => undefined,
  });
  expect(asked).toEqual(['deleteWebhook', 'getUpdates']);
});
