import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { http, type IncomingMessage } from '../builtin.ts';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { createApp, type App } from './create-app.ts';
import { openSse } from './sse.ts';

const open = (routes: (app: App) => void) =>
  createApp({
    service: 'test',
    version: { service: 'test', version: '1.0.0', channel: 'stable', sha: 'unknown', started_at: 0, node: '26' },
    log: createLog('test', 'silent'),
    allowedHosts: [],
    health: () => ({}),
    routes,
  });
const app = open(() => undefined);

test.each(['/%', '/%ff', '/health/%ED%A0%80'])(
  'a URL that cannot be decoded (%s) is refused in the shape of every error',
  async (url) => {
    const response = await app.inject({ url });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      ok: false,
      error: 'bad_request',
      request_id: expect.stringMatching(/^req_/) as string,
    });
  },
);

describe('a JSON body', () => {
  const text = { type: 'object', properties: { name: { type: 'string' } } } as const;
  const own = open((routes) => {
    routes.post('/take', { schema: { body: text } }, ({ body }) => body);
    routes.post('/any', ({ body }) => ({ body }));
  });
  const post = (url: string, payload: string | Buffer) =>
    own.inject({ method: 'POST', url, payload, headers: { 'content-type': 'application/json' } });

  test.each([
    [String.raw`{"name":"\ud800"}`, 'body.name'],
    [String.raw`{"other":{"deep":["\uDBFFx"]}}`, 'body.other.deep.0'],
    [String.raw`{"\udc00":1}`, 'body.\ufffd'],
  ])('%s is refused, with the field, whatever the schema says', async (payload, field) => {
    for (const url of ['/take', '/any']) {
      const response = await post(url, payload);
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({ ok: false, error: 'bad_request', fields: [{ field }] });
    }
  });

  test('that is no UTF-8 is refused', async () => {
    const response = await post('/take', Buffer.from('7b226e616d65223a22ff227d', 'hex'));
    expect(response.json()).toMatchObject({ error: 'bad_request', message: 'The body is not valid UTF-8.' });
  });

  test.each([String.raw`{"name":"\ud83d\ude00 \\ud800"}`, '{"name":"Müller 山田 😀"}'])('%s is taken', async (payload) => {
    expect((await post('/take', payload)).json()).toEqual(JSON.parse(payload));
  });

  test.each(['', '{', '{"__proto__":{"x":1}}'])('%j is refused as before', async (payload) => {
    expect((await post('/take', payload)).statusCode).toBe(400);
  });
});

test('a foreign host learns no more from such a URL than from others', async () => {
  const response = await app.inject({ url: '/%', headers: { host: 'evil.example' } });
  expect(response.json()).toMatchObject({ error: 'bad_host' });
});

/** An app that listens, while its time is that of the test. */
async function listen(routes: (app: App) => void) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const own = open(routes);
  onTestFinished(async () => {
    vi.useRealTimers();
    own.server.closeAllConnections();
    await own.close();
  });
  const url = await own.listen({ host: '127.0.0.1', port: 0 });
  return { url, port: Number(new URL(url).port) };
}

test('a reader of a feed is not cut off, however long it reads', async () => {
  const say: (() => void)[] = [];
  const { url } = await listen((routes) => {
    routes.get('/feed', (_request, reply) => {
      const sse = openSse(reply, systemClock);
      say.push(() => sse.send('event: later\n\n'));
    });
  });
  const [response] = (await once(http.get(`${url}/feed`), 'response')) as [IncomingMessage];
  vi.advanceTimersByTime(10 * 60_000);
  say[0]?.();
  expect(String((await once(response, 'data'))[0])).toBe('event: later\n\n');
});

test('a body that does not come to its end is cut off after two minutes', async () => {
  const { port } = await listen((routes) => {
    routes.post('/body', () => ({}));
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
  await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 5000, interval: 5 });
  vi.advanceTimersByTime(120_000);
  await once(socket, 'close');
});
