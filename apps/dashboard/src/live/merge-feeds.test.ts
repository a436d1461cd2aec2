import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { listen, type Listening } from '@svc/testing/listen.ts';
import { silenceMs } from './follow-feed.ts';
import { mergeFeeds } from './merge-feeds.ts';

/** A process whose feed is written by the test. */
async function openSource() {
  const source = { asked: [] as IncomingHttpHeaders[], readers: [] as ServerResponse[], isAway: false, url: '' };
  const server = http.createServer((request, response) => {
    source.asked.push(request.headers);
    if (source.isAway) return void response.writeHead(503).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    source.readers.push(response);
  });
  const listening: Listening = await listen(server);
  source.url = listening.url;
  return { source, close: listening.close };
}

let open: Awaited<ReturnType<typeof openSource>>[];
let clock: ReturnType<typeof createFakeClock>;
let sent: string;
let leave: AbortController;

beforeEach(async () => {
  open = [await openSource(), await openSource()];
  clock = createFakeClock();
  sent = '';
  leave = new AbortController();
});
afterEach(async () => {
  leave.abort();
  for (const { close } of open) await close();
});

async function follow(lastId: string | null = null) {
  const [core, collector] = open.map(({ source }) => source) as [Source, Source];
  const ended = mergeFeeds(
    {
      backends: { urls: { core: core.url, collector: collector.url, manager: '' }, headersFor: (of) => ({ 'x-of': of }) },
      clock,
      log: { debug: () => undefined },
      mask: noMask,
    },
    { stream: { send: (frame) => (sent += frame) }, user: 'Anna', lastId, signal: leave.signal },
  );
  await expect.poll(() => [core.readers.length, collector.readers.length]).toEqual([1, 1]);
  await expect.poll(() => sent).toContain('event: ready');
  return { core, collector, ended };
}
type Source = Awaited<ReturnType<typeof openSource>>['source'];
const event = (id: string, kind: string) => JSON.stringify({ id, kind, text: 'what nobody needs' });
const has = (frame: string) => expect.poll(() => sent).toContain(frame);

test('an event of the core is sent once, though the collector reports it too', async () => {
  const { core, collector } = await follow();
  core.readers[0]?.write(`id: ev_1\nevent: turn\ndata: ${event('ev_1', 'turn')}\n\n`);
  await has('id: ev_1\nevent: event\ndata: {"kind":"turn"}\n\n');
  collector.readers[0]?.write(
    `event: event\ndata: ${event('ev_1', 'turn')}\n\nevent: event\ndata: ${event('ev_2', 'instance')}\n\n`,
  );
  collector.readers[0]?.write('event: sessions-changed\ndata: {"sessions":["a"]}\n\n');
  await has('event: sessions-changed\ndata: {"sessions":["a"]}\n\n');
  expect(sent.match(/"kind":"\w+"/g)).toEqual(['"kind":"turn"', '"kind":"instance"']);
});

test('a reconnecting reader resumes at the core and gets a gap for the collector', async () => {
  const { core } = await follow('ev_7');
  expect(core.asked[0]).toMatchObject({ 'last-event-id': 'ev_7', 'x-of': 'core' });
  await has('event: gap\ndata: {"of":"collector"}\n\n');
  expect(sent).not.toContain('id: ');
});

test('a new reader gets an id to resume from at once', async () => {
  const { core } = await follow();
  expect(core.asked[0]?.['last-event-id']).toBeUndefined();
  expect(sent).toMatch(/^id: ready_\w+\nevent: ready\n/);
  core.readers[0]?.write('event: gap\ndata: {"since":1,"message":"x"}\n\n');
  await has('event: gap\ndata: {"of":"core"}\n\n');
});

test('a collector that disconnects and returns is reported, and the stream stays open', async () => {
  const { collector } = await follow();
  collector.readers[0]?.destroy();
  await has('event: away\ndata: {"of":"collector"}\n\n');
  await expect.poll(() => collector.readers.length).toBe(2);
  await has('event: gap\ndata: {"of":"collector"}\n\n');
  expect(sent.match(/event: away/g)).toHaveLength(1);
});

test('the stream ends with the feed of the core, also when that is silent for too long', async () => {
  const { core, collector, ended } = await follow();
  clock.advance(silenceMs - 1);
  core.readers[0]?.write(`id: ev_1\nevent: turn\ndata: ${event('ev_1', 'turn')}\n\n`);
  await has('id: ev_1');
  clock.advance(1);
  // The silent collector is read again; the core has sent something.
  await expect.poll(() => collector.readers.length).toBe(2);
  clock.advance(silenceMs - 1);
  await ended;
});

test('the stream ends when its reader leaves', async () => {
  const { ended, core } = await follow();
  leave.abort();
  await ended;
  await expect.poll(() => core.readers[0]?.destroyed).toBe(true);
});
