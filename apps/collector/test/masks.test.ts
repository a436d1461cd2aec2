import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { SearchAnswer } from '@svc/contract/insights.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createOutboundMask, type MaskedJson } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { createCoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

const secret = 'Cnry7Var2kQzLwXp';
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function open(...args: Parameters<typeof openTestCollector>): TestCollector {
  const collector = openTestCollector(...args);
  cleanUps.push(() => collector.close());
  return collector;
}

/** An event that holds a text in every place there is. */
const everywhere = (text: string) => ({
  kind: text,
  id: text,
  session: text,
  surface: text,
  instance_id: text,
  identity: text,
  principal: text,
  request_id: text,
  text: `said "${text}"\nso`,
  payload: { [text]: { [text]: [text, 4_111_222_233] }, turn_id: text, model: text },
});

const reads = [
  '/api/events',
  '/api/sessions',
  '/api/brief',
  '/api/usage',
  '/api/notifications',
  '/api/map',
  '/metrics',
  '/health',
];
const readAll = async ({ app }: TestCollector) =>
  (await Promise.all(reads.map(async (url) => `${url} ${(await app.inject(url)).payload}`))).join('\n');

/** A secret that becomes known now. */
function learn({ dataDir, clock }: TestCollector, value: string): void {
  writeFileSync(path.join(dataDir, 'secrets.json'), JSON.stringify({ A: value }), { mode: 0o600 });
  clock.advance(1001);
}

test('masks known secrets in events of other producers, in the store, the feed and every answer', async () => {
  const collector = open({}, undefined, { env: { SOME_API_KEY: secret, A_TOKEN: '4111222233' } });
  const feed: string[] = [];
  collector.context.hub.subscribe((item) => feed.push(JSON.stringify(item)));
  const answer = await collector.ingest([everywhere(secret), everywhere(secret), { kind: 'ok', id: 'plain' }]);
  expect(answer).toMatchObject({ ingested: 3, rejected: [] });
  expect(await collector.events()).toHaveLength(3);
  const everything = [
    JSON.stringify(collector.context.db.raw.prepare('SELECT * FROM event').all()),
    ...feed,
    await readAll(collector),
  ].join('\n');
  expect(everything).toContain('[redacted:secret]');
  expect(everything).not.toContain(secret);
  expect(everything).not.toContain('4111222233');
});

test('masks older events on reading when a secret becomes known later', async () => {
  const collector = open();
  await collector.ingest(everywhere(secret));
  expect(await readAll(collector)).toContain(secret);
  learn(collector, secret);
  expect(await readAll(collector)).not.toContain(secret);
});

describe('a search', () => {
  const search = (collector: TestCollector, q: string, limit = 20) =>
    collector.read<SearchAnswer>(`/api/search?q=${encodeURIComponent(q)}&limit=${limit}`);
  const openWith = async () => {
    const collector = open();
    await collector.ingest([
      { kind: 'inbound', session: 'a', ts: 1, text: `the key is ${secret} here` },
      { kind: 'inbound', session: 'b', ts: 2, text: `the key is elsewhere` },
      { kind: 'inbound', ts: 3, text: `${secret} of no session` },
      { kind: 'inbound', session: 'c', ts: 4, text: `${'x '.repeat(80)} ${secret.slice(0, 6)}` },
      { kind: 'inbound', session: 'd', ts: 5, text: `${'long '.repeat(13_105)}begin ${secret}` },
    ]);
    while (!(await search(collector, 'key')).complete);
    return collector;
  };

  test.each([secret, `"${secret}"`, `${secret.slice(0, 7)}*`, `key ${secret.slice(0, 9)}*`, `${secret} -nothing`])(
    'for %j does not confirm a secret',
    async (q) => {
      const collector = await openWith();
      expect((await search(collector, q)).hits).toBeGreaterThan(0);
      learn(collector, secret);
      for (const limit of [1, 20]) expect(await search(collector, q, limit)).toMatchObject({ sessions: [], hits: 0 });
    },
  );

  test('does not count hits of hidden sessions, and masks a secret where a long text was truncated', async () => {
    const collector = await openWith();
    learn(collector, secret);
    expect(await search(collector, 'key', 1)).toMatchObject({ sessions: [{ conversation_key: 'b' }], hits: 1 });
    const { sessions } = await search(collector, 'begin');
    expect(sessions.map(({ snippet }) => snippet)).toEqual([expect.stringMatching(/begin \[/)]);
  });

  test('for other words still finds sessions, with the secret masked in the snippet', async () => {
    const collector = await openWith();
    learn(collector, secret);
    const { sessions, hits } = await search(collector, 'key');
    expect(hits).toBe(2);
    expect(sessions.map(({ snippet }) => snippet)).toEqual(['the key is elsewhere', 'the key is [redacted:secret] here']);
  });
});

describe('secrets that only the core knows', () => {
  /** A stand-in for the core that knows one secret. */
  async function openCore() {
    const mask = createOutboundMask(createRedactor([secret]).known);
    const asked: string[] = [];
    const server = http.createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        asked.push(`${request.url} ${request.headers.authorization}`);
        const masked = mask.jsonText(body);
        response.end(
          JSON.stringify(masked === body ? { masked: false } : { masked: true, value: JSON.parse(masked) as unknown }),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUps.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close: () => server.close() };
  }

  test('are masked in events of others and in reads, but the core is not asked for its own events', async () => {
    const core = await openCore();
    const collector = open({}, undefined, { coreMask: createCoreMask(core.url, null, systemClock) });
    await collector.ingest(everywhere(secret));
    expect(core.asked).toHaveLength(1);
    expect(JSON.stringify(collector.context.db.raw.prepare('SELECT * FROM event').all())).not.toContain(secret);
    await collector.app.inject({
      method: 'POST',
      url: '/ingest',
      headers: { 'svc-masked-by': 'core' },
      payload: everywhere(secret),
    });
    expect(core.asked).toHaveLength(1);
    expect((await collector.app.inject('/api/events')).payload).not.toContain(secret);
  });

  test('do not replace local masking: events that claim to come from the core are masked all the same', async () => {
    const local = 'Hx7pQ2mVd93kTzRw';
    const core = await openCore();
    const coreMask = createCoreMask(core.url, null, systemClock);
    const collector = open({}, undefined, { env: { SOME_API_KEY: local }, coreMask });
    await collector.app.inject({
      method: 'POST',
      url: '/ingest',
      headers: { 'svc-masked-by': 'core' },
      payload: everywhere(local),
    });
    expect(core.asked).toEqual([]);
    expect(JSON.stringify(collector.context.db.raw.prepare('SELECT * FROM event').all())).not.toContain(local);
  });

  test('are not masked while the core cannot be reached, which /health reports', async () => {
    let elapsed = 0;
    const collector = open({}, undefined, { coreMask: createCoreMask('http://127.0.0.1:1', null, { elapsed: () => elapsed }) });
    await collector.ingest({ kind: 'inbound', text: secret });
    expect(await collector.events()).toHaveLength(1);
    // It starts together with this process.
    expect(await collector.read('/health')).toMatchObject({ status: 'ok' });
    elapsed = 15_000;
    expect(await collector.events()).toHaveLength(1);
    expect(await collector.read('/health')).toMatchObject({
      status: 'degraded',
      degraded: [expect.stringContaining('core could not be asked')],
    });
  });

  test('are masked below the keys __proto__ and constructor', async () => {
    const core = await openCore();
    const mask = createCoreMask(core.url, null, systemClock);
    const json = `{"__proto__":{"constructor":"${secret}"}}` as MaskedJson;
    expect(await mask.json(json)).toBe('{"__proto__":{"constructor":"[redacted:secret]"}}');
    expect(mask.fault()).toBeNull();
  });
});
