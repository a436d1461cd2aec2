import { expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';
import { isInForce } from './is-in-force.ts';

/** A connector that answers with these statuses, then always with the last; `null` closes the connection. */
async function connector(...statuses: (number | null)[]) {
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    const status = statuses.length > 1 ? statuses.shift() : statuses[0];
    if (status == null) return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  return { url, asked };
}

/** A clock whose timers fire at once. */
function fastClock() {
  let now = 0;
  return {
    elapsed: () => now,
    after: (ms: number, fn: () => void) => ((now += ms), queueMicrotask(fn), () => undefined),
  } as never;
}

test.each([
  ['made', true, [401, null, 200], 3],
  ['made, also where what it asks for fails otherwise', true, [404], 1],
  ['revoked', false, [200, null, 401], 3],
])('a key that was %s is in force once the connector answers accordingly', async (_what, isGood, statuses, times) => {
  const { url, asked } = await connector(...statuses);
  expect(await isInForce(fastClock(), url, 'the-key', isGood)).toBe(true);
  expect(asked).toEqual(Array.from({ length: times }, () => '/v1/models Bearer the-key'));
});

test.each([
  [true, 401],
  [true, null],
  [false, 200],
  [false, null],
])('gives up after eight seconds of other answers (%s, %s)', async (isGood, status) => {
  const { url, asked } = await connector(status);
  expect(await isInForce(fastClock(), url, 'the-key', isGood)).toBe(false);
  expect(asked).toHaveLength(40);
});

test('a connector that does not run is not waited for', async () => {
  expect(await isInForce(fastClock(), null, 'the-key', true)).toBe(true);
});
