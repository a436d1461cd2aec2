import { expect, onTestFinished, test } from 'vitest';
import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';
import { askLimitEnd } from './limit-end.ts';

async function ask(answer: (response: ServerResponse) => void) {
  const asked: string[] = [];
  const server = http.createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url} ${incoming.headers.authorization}`);
    answer(response);
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  return { ms: await askLimitEnd({ baseUrl: `${url}/api/`, token: 'local' }, 'm'), asked };
}

test('asks an endpoint once, and returns when its limit ends', async () => {
  const { ms, asked } = await ask((response) => response.writeHead(429, { 'retry-after': '3600' }).end('{}'));
  expect(ms).toBe(3_600_000);
  expect(asked).toEqual(['POST /api/v1/messages Bearer local']);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['answers', (response) => response.writeHead(200, { 'retry-after': '3600' }).end('{}')],
  ['names no time', (response) => response.writeHead(429).end('{}')],
  ['breaks off', (response) => response.destroy()],
  ['says nothing', () => undefined],
  ['never ends', (response) => response.writeHead(200).write('x')],
])('returns null for an endpoint that %s', async (_what, answer) => {
  expect((await ask(answer)).ms).toBeNull();
});

test('returns null when nothing listens', async () => {
  expect(await askLimitEnd({ baseUrl: 'http://127.0.0.1:9', token: 'x' }, null)).toBeNull();
});
