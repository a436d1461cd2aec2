import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFileOpener, createFileTickets } from '../src/open-file.ts';

/** The refusals of the core, in order; then it sends the file. */
let refusals: { status: number; retryAfter?: string; body?: string }[];
let asked: number;
let pauses: number[];
let server: Server;

beforeEach(async () => {
  [refusals, asked, pauses] = [[], 0, []];
  server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const full = { status: 429, body: '{"error":"queue_full","message":"8 files are under way already."}' };

function answer(response: ServerResponse): void {
  asked++;
  const refusal = refusals.shift();
  if (refusal === undefined) return void response.writeHead(200, { 'content-length': 4 }).end('milk');
  const { status, retryAfter, body = '' } = refusal;
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end(body);
}

/** A clock that skips pauses, and does not move otherwise. */
function skippingClock(): Clock {
  let now = 0;
  const after = (ms: number, fn: () => void) => {
    pauses.push(ms);
    now += ms;
    queueMicrotask(fn);
    return () => undefined;
  };
  return { ...systemClock, elapsed: () => now, after };
}

const shutdown = new AbortController();
const opener = (signal = shutdown.signal) => {
  const coreUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return createFileOpener({ coreUrl, pass: 'p', tickets: createFileTickets(), signal, clock: skippingClock() });
};

test('retries a file after the pause that the busy core names', async () => {
  refusals = [
    { ...full, retryAfter: '1' },
    { ...full, retryAfter: '7' },
  ];
  expect(await text((await opener()('/u/a')).data)).toBe('milk');
  expect(pauses).toEqual([1000, 7000]);
});

test.each([
  ['names no pause', undefined],
  ['names one that is no number', 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ['names none', '0'],
  ['names one that has passed', '-5'],
])('retries after pauses of its own when the core %s', async (_what, retryAfter) => {
  refusals = Array.from({ length: 3 }, () => ({ ...full, retryAfter }));
  expect(await text((await opener()('/u/a')).data)).toBe('milk');
  expect(pauses).toHaveLength(3);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(250);
});

test('asks five times at most', async () => {
  refusals = Array.from({ length: 50 }, () => ({ ...full, retryAfter: '1' }));
  await expect(opener()('/u/a')).rejects.toMatchObject({ code: 'queue_full', status: 429 });
  expect(asked).toBe(5);
});

test('fails at once when the named pause is longer than a file may wait', async () => {
  refusals = [{ ...full, retryAfter: '3600' }];
  await expect(opener()('/u/a')).rejects.toMatchObject({ code: 'queue_full', details: { retry_after_s: 3600 } });
  expect([asked, pauses]).toEqual([1, []]);
});

test('retries a 429 with an unreadable body', async () => {
  refusals = [{ status: 429, body: '<html>' }];
  expect(await text((await opener()('/u/a')).data)).toBe('milk');
});

test.each([400, 401, 403, 404, 500, 503])('does not retry after a status of %i', async (status) => {
  refusals = [{ status, retryAfter: '1' }];
  await expect(opener()('/u/a')).rejects.toThrow(`${status}`);
  expect([asked, pauses]).toEqual([1, []]);
});

test('does not wait any longer once the connector stops', async () => {
  const stopping = new AbortController();
  refusals = Array.from({ length: 5 }, () => ({ ...full, retryAfter: '1' }));
  server.once('request', () => stopping.abort());
  await expect(opener(stopping.signal)('/u/a')).rejects.toThrow();
  expect(asked).toBe(1);
});

test('waiting files count among the eight at once, and free their place', async () => {
  const open = opener();
  refusals = Array.from({ length: 8 }, () => ({ ...full, retryAfter: '3600' }));
  const eight = Array.from({ length: 8 }, () => open('/u/a'));
  await expect(open('/u/a')).rejects.toMatchObject({ code: 'queue_full' });
  for (const one of eight) await expect(one).rejects.toMatchObject({ code: 'queue_full' });
  expect(await text((await open('/u/a')).data)).toBe('milk');
});
