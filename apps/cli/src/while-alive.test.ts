import { expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { listen } from '@svc/testing/listen.ts';
import { NotAlive, whileAlive } from './while-alive.ts';

const pauseMs = 20;
/** Ample time for a health answer, as a busy machine is slow. */
const ampleMs = 30_000;
const shortMs = 1500;

/** A server that answers `/health` unless it hangs, and `/work` when the test says so. */
async function open(healthMs = ampleMs) {
  let finish = () => {};
  const asked: string[] = [];
  const state = { isHung: false };
  const server = http.createServer((request, response) => {
    asked.push(request.url ?? '');
    const answer = () => response.end('{"done":true}');
    if (request.url === '/work') finish = answer;
    else if (!state.isHung) answer();
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  const patience = { pauseMs, healthMs };
  const work = () => whileAlive(url, (signal) => requestJson(`${url}/work`, { timeoutMs: 60_000, signal }), patience);
  return { url, asked, state, close, work, finish: () => finish() };
}

const health = (asked: string[]) => asked.filter((url) => url === '/health').length;

test('a slow answer is waited for while the process reports health', async () => {
  const { work, asked, finish } = await open();
  const answer = work();
  await expect.poll(() => health(asked)).toBeGreaterThan(3);
  finish();
  expect(await answer).toMatchObject({ status: 200 });
  const before = health(asked);
  await new Promise((resolve) => setImmediate(resolve));
  expect(health(asked)).toBeLessThanOrEqual(before + 1);
});

test('gives up on a hanging process, at the start or during its work', async () => {
  const { work, asked, state } = await open(shortMs);
  const answer = work();
  await expect.poll(() => health(asked)).toBeGreaterThan(1);
  state.isHung = true;
  await expect(answer).rejects.toEqual(new NotAlive(pauseMs + shortMs));
  await expect(work()).rejects.toThrow(NotAlive);
});

test('passes on an error of the request itself', async () => {
  const { work, close } = await open();
  await close();
  await expect(work()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
