import { expect, onTestFinished, test } from 'vitest';
import { startRpcClient } from './json-rpc.ts';

/** A program that answers its first request with this line. */
function open(answer: string) {
  const client = startRpcClient({
    command: process.execPath,
    args: ['-e', `process.stdin.once('data', () => console.log(${JSON.stringify(answer)}))`],
    env: { PATH: process.env.PATH ?? '' },
    cwd: process.cwd(),
    maxLine: 1000,
    stopTimes: { politeMs: 50, termMs: 50 },
    onNotification: () => undefined,
    onRequest: () => ({}),
  });
  onTestFinished(() => client.stop());
  return client;
}

test('accepts an answer whose error is null', async () => {
  await expect(open('{"id":1,"error":null,"result":{"a":1}}').request('x', {})).resolves.toEqual({ a: 1 });
});

test.each(['{"id":1,"error":"no"}', '{"id":1,"error":{"code":-1}}', '{"id":1,"error":7}'])(
  'rejects the call on the error %s',
  async (answer) => {
    await expect(open(answer).request('x', {})).rejects.toThrow();
  },
);
