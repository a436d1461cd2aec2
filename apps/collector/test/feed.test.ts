import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { io, type Socket } from 'socket.io-client';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

const token = 'a-token-of-insights';
let collector: TestCollector | null = null;
afterEach(() => collector?.close());

async function open(env: Record<string, string> = { SVC_INSIGHTS_TOKEN: token }) {
  const opened = openTestCollector(env);
  collector = opened;
  await opened.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = opened.app.server.address() as AddressInfo;
  return { opened, port, url: `http://127.0.0.1:${port}` };
}

function join(url: string, options: Parameters<typeof io>[1] = {}): Socket {
  const socket = io(url, { auth: { token }, reconnection: false, forceNew: true, ...options });
  onTestFinished(() => void socket.disconnect());
  return socket;
}
const connected = (socket: Socket) =>
  new Promise<string>((resolve) => {
    socket.on('connect', () => resolve('connected'));
    socket.on('connect_error', ({ message }) => resolve(message));
  });

async function ingest(url: string, events: unknown[]) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/ingest`, { method: 'POST', headers, body: JSON.stringify(events) });
  expect(answer.status).toBe(200);
}

test.each([['websocket'], ['polling']])('a reader over %s gets every item of the feed', async (transport) => {
  const { opened, url } = await open();
  const reader = join(url, { transports: [transport] });
  expect(await connected(reader)).toBe('connected');
  const items: [string, unknown][] = [];
  reader.onAny((name: string, data: unknown) => items.push([name, data]));
  const event = { id: 'e1', kind: 'inbound', session: 's', text: 'hello', ts: 5, payload: { a: 1 } };
  await ingest(url, [event, { ...event, id: 'e2', session: null }]);
  await ingest(url, [event]);
  opened.clock.advance(250);
  await opened.context.sampler.sample();
  opened.context.hub.publish({ name: 'control', data: { id: 'audit' } as never });
  await expect
    .poll(() => items.map(([name]) => name))
    .toEqual(['event', 'event', 'sessions-changed', 'system-sample', 'control']);
  expect(items[0]?.[1]).toMatchObject({ ...event, cost_usd: null, injected: false });
  expect(items[0]?.[1]).not.toHaveProperty('payloadText');
  expect(items[2]?.[1]).toEqual({ sessions: ['s'] });
});

test.each([
  ['no token', {}],
  ['a wrong token', { token: 'wrong' }],
  ['a token that is no text', { token: { length: 3 } }],
])('refuses a reader with %s', async (_name, auth) => {
  const { opened, url } = await open();
  expect(await connected(join(url, { auth }))).toBe('unauthorized');
  expect(opened.context.hub.size).toBe(0);
});

test('without a token set the feed is open, and it unsubscribes after the last reader has left', async () => {
  const { opened, url } = await open({});
  const [one, two] = [join(url, { auth: {} }), join(url, { auth: {} })];
  expect(await Promise.all([connected(one), connected(two)])).toEqual(['connected', 'connected']);
  expect(opened.context.hub.size).toBe(1);
  one.disconnect();
  two.disconnect();
  await expect.poll(() => opened.context.hub.size).toBe(0);
});

type Upgraded = { status: number; headers: Record<string, unknown>; body: string };
/** The response to an upgrade. */
const upgrade = (port: number, path: string, headers: Record<string, string>, sent: string | null = null) =>
  new Promise<Upgraded>((resolve, reject) => {
    const wanted = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const method = sent === null ? 'GET' : 'POST';
    const request = http.request({ host: '127.0.0.1', port, path, method, headers: { ...wanted, ...headers } });
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, headers: {}, body: '' });
    });
    request.on('error', reject);
    request.end(sent);
  });

const feed = '/socket.io/?EIO=4&transport=websocket';
test.each([
  ['a foreign origin', feed, { origin: 'https://evil.example' }, 403],
  ['a null origin', feed, { origin: 'null' }, 403],
  ['a foreign host', feed, { host: 'evil.example' }, 403],
  ['a token in its URL', `${feed}&token=${token}`, {}, 401],
  ['another path', '/elsewhere', {}, 404],
  ['nothing wrong', feed, {}, 101],
])('answers an upgrade with %s', async (_name, path, headers, status) => {
  const { port } = await open();
  const answer = await upgrade(port, path, headers);
  expect(answer.status).toBe(status);
  if (status === 101) return;
  const { ok, request_id } = JSON.parse(answer.body) as ErrorBody;
  expect([ok, request_id]).toEqual([false, expect.stringMatching(/^req_/)]);
  expect(answer.headers).toMatchObject({ 'x-request-id': request_id });
});

test('answers a request that offers an upgrade to HTTP/2 as usual', async () => {
  const { port } = await open();
  const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAB' };
  expect(await upgrade(port, '/health', offer)).toMatchObject({ status: 200 });
  const headers = { ...offer, authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const stored = await upgrade(port, '/ingest', headers, '{"kind":"x"}');
  expect([stored.status, stored.body]).toEqual([200, '{"ingested":1,"rejected":[]}']);
  expect((await upgrade(port, feed, { upgrade: 'WebSocket' })).status).toBe(101);
});

test.each([
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{}, 200],
])('a poll with %j answers %i', async (headers, status) => {
  const { opened } = await open();
  const { port } = opened.app.server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/socket.io/?EIO=4&transport=polling`, { headers });
  expect(answer.status).toBe(status);
});

test('drops a reader that stopped reading, while others get every item', async () => {
  const { opened, url, port } = await open({});
  const stalled = connect(port, '127.0.0.1');
  onTestFinished(() => void stalled.destroy());
  stalled.write(
    `GET ${feed} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await new Promise((resolve) => stalled.once('data', resolve));
  // One masked frame: "40", the request to join.
  stalled.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x34, 0x30]));
  await expect.poll(() => opened.context.hub.size).toBe(1);
  stalled.pause();
  const reader = join(url, { auth: {} });
  await connected(reader);
  let received = 0;
  let worstMs = 0;
  reader.on('event', ({ ts }: { ts: number }) => {
    received++;
    worstMs = Math.max(worstMs, workedMs() - ts);
  });
  let gone = false;
  stalled.on('close', () => (gone = true));
  stalled.on('error', () => (gone = true));
  for (let round = 0; round < 200; round++) {
    for (let i = 0; i < 20; i++)
      opened.context.hub.publish({ name: 'event', data: { ts: workedMs(), text: 'x'.repeat(5000) } as never });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await expect.poll(() => received).toBe(4000);
  expect(worstMs).toBeLessThan(500);
  stalled.resume();
  await expect.poll(() => gone).toBe(true);
});

test('sends the same items as server-sent events', async () => {
  const { url, opened } = await open();
  expect((await fetch(`${url}/api/stream`)).status).toBe(401);
  const end = new AbortController();
  const answer = await fetch(`${url}/api/stream`, { headers: { authorization: `Bearer ${token}` }, signal: end.signal });
  await ingest(url, [{ id: 'e1', kind: 'x', text: 'two\n\nlines', ts: 5 }]);
  let text = '';
  for await (const part of answer.body ?? []) {
    text += Buffer.from(part as Uint8Array).toString();
    if (text.includes('lines')) break;
  }
  end.abort();
  const frame = text.split('\n\n').find((part) => part.startsWith('event: event'));
  expect(JSON.parse(frame?.split('data: ')[1] ?? '')).toMatchObject({ id: 'e1', text: 'two\n\nlines' });
  await expect.poll(() => opened.context.hub.size).toBe(0);
});

test('splits a change of many sessions into items that together name all of them', async () => {
  const { opened } = await open({});
  const named: string[][] = [];
  opened.context.hub.subscribe((item) => item.name === 'sessions-changed' && named.push(item.data.sessions));
  await opened.ingest(Array.from({ length: 2500 }, (_, i) => ({ kind: 'inbound', session: `s${i}` })));
  opened.clock.advance(250);
  expect(named.map(({ length }) => length)).toEqual([1000, 1000, 500]);
  expect(new Set(named.flat()).size).toBe(2500);
});
