import { expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { listen } from '@svc/testing/listen.ts';
import { NotAlive, whileAlive } from './while-alive.ts';

const patience = { pauseMs: 20, healthMs: 300 };

/** A server that answers its health while it is well, and `/work` when the test says so. */
async function open() {
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
  const work = () => whileAlive(url, (signal) => requestJson(`${url}/work`, { timeoutMs: 60_000, signal }), patience);
  return { url, asked, state, close, work, finish: () => finish() };
}

const health = (asked: string[]) => asked.filter((url) => url === '/health').length;

test('an answer that takes long is waited for while the process is alive', async () => {
  const { work, asked, finish } = await open();
  const answer = work();
  await expect.poll(() => health(asked)).toBeGreaterThan(3);
  finish();
  expect(await answer).toMatchObject({ status: 200 });
  const before = health(asked);
  await new Promise((resolve) => setImmediate(resolve));
  expect(health(asked)).toBeLessThanOrEqual(before + 1);
});

test('a process that hangs is given up, from the beginning or in the middle of its work', async () => {
  const { work, asked, state } = await open();
  const answer = work();
  await expect.poll(() => health(asked)).toBeGreaterThan(1);
  state.isHung = true;
  await expect(answer).rejects.toEqual(new NotAlive(320));
  await expect(work()).rejects.toThrow(NotAlive);
});

test('what the question itself fails with is passed on', async () => {
  const { work, close } = await open();
  await close();
  await expect(work()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
