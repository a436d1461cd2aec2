import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Brief, NotificationPage, SystemSamples } from '@svc/contract/insights.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { AddressInfo } from 'node:net';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector;
let now: number;
beforeEach(() => {
  collector = openTestCollector();
  now = collector.clock.now();
});
afterEach(() => collector.close());

const samples = async (query = '') => (await collector.read<SystemSamples>(`/api/system?${query}`)).samples;

test('samples the machine and this process every 15 seconds', async () => {
  const published: unknown[] = [];
  collector.context.hub.subscribe((item) => published.push(item));
  expect(await samples()).toEqual([]);
  collector.clock.advance(15_000);
  await expect.poll(() => samples()).toHaveLength(1);
  collector.clock.advance(15_000);
  await expect.poll(() => samples()).toHaveLength(2);
  const [newest, oldest] = await samples();
  expect([newest?.at, oldest?.at]).toEqual([now + 30_000, now + 15_000]);
  expect(newest?.memory_total_bytes).toBeGreaterThan(newest?.memory_used_bytes ?? Infinity);
  expect(newest?.disk_total_bytes).toBeGreaterThan(newest?.disk_used_bytes ?? Infinity);
  expect(newest?.cpu_percent).toBeLessThanOrEqual(100);
  expect(newest?.processes).toMatchObject([{ name: 'collector', kind: 'host', pid: process.pid }]);
  expect(newest?.processes[0]?.memory_bytes).toBeGreaterThan(10_000_000);
  expect(published).toMatchObject([{ name: 'system-sample' }, { name: 'system-sample', data: newest }]);
  expect(await samples(`since=${now + 15_001}`)).toHaveLength(1);
  expect(await samples('limit=1')).toEqual([newest]);
});

test('lists the processes of the supervisor and the manager, without those that have ended', async () => {
  const instances = [
    { id: 'compat', pid: process.pid },
    { id: 'stopped', pid: null },
    { id: 'gone', pid: 2 ** 22 + 7 },
  ] as Instance[];
  const manager = http.createServer((_request, response) => void response.end(JSON.stringify({ instances })));
  await new Promise<void>((resolve) => manager.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void manager.close());
  const { port } = manager.address() as AddressInfo;
  const other = openTestCollector({ SVC_MANAGER_PORT: String(port) });
  onTestFinished(() => other.close());
  mkdirSync(path.join(other.dataDir, 'run'));
  const services = [
    { name: 'manager', pid: process.pid },
    { name: 'core', pid: null },
  ];
  writeFileSync(path.join(other.dataDir, 'run', 'supervisor.json'), JSON.stringify({ pid: process.ppid, services }));
  await other.context.sampler.sample();
  expect(other.context.sampler.latest()?.processes.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
    'supervisor supervisor',
    'host manager',
    'instance compat',
  ]);
});

test('lists notifications and deliveries, newest first, in pages', async () => {
  await collector.ingest([
    { id: 'n1', kind: 'notification', ts: 100, text: 'one', payload: { title: 'x' } },
    { id: 'x', kind: 'inbound', ts: 150 },
    { id: 'd1', kind: 'delivery', ts: 200, session: 's', payload: { what: 'delivered' } },
    { id: 'n2', kind: 'notification', ts: 200 },
  ]);
  const page = (query: string) => collector.read<NotificationPage>(`/api/notifications?${query}`);
  const first = await page('limit=2');
  expect(first.notifications.map(({ id }) => id)).toEqual(['n2', 'd1']);
  const second = await page(`limit=2&before=${first.next_before}`);
  expect(second.notifications).toMatchObject([{ id: 'n1', text: 'one', payload: { title: 'x' } }]);
  expect(second.next_before).toBeNull();
});

test('the brief lists active sessions and the usage of a day by surface', async () => {
  const used = (ts: number, surface: string, input_tokens: number) => ({
    kind: 'token-usage',
    ts,
    surface,
    cost_usd: 1,
    billed_cost_usd: 0.5,
    payload: { input_tokens, output_tokens: 1 },
  });
  const side = (surface: string, cost: number | null) => ({
    kind: 'token-usage',
    ts: now - 1000,
    surface,
    cost_usd: cost,
    billed_cost_usd: cost,
    payload: { feature: 'tts', provider: 'p', model: 'm', units: 'characters', quantity: 9 },
  });
  await collector.ingest([
    used(now - 1000, 'compat', 10),
    used(now - 2 * 3_600_000, 'compat', 20),
    used(now - 3_600_000, 'messenger', 100),
    used(now - 26 * 3_600_000, 'compat', 1000),
    side('messenger', 0.25),
    side('mobile', null),
    { kind: 'inbound', ts: now - 1000, session: 's', surface: 'compat', text: 'hello' },
    { kind: 'inbound', ts: now - 3_600_000, session: 'old' },
  ]);
  const brief = await collector.read<Brief>('/api/brief');
  expect(brief.active).toEqual([
    {
      conversation_key: 's',
      surface: 'compat',
      identity: null,
      principal: null,
      state: 'idle',
      last_event_at: now - 1000,
      last_text: 'hello',
      title: null,
    },
  ]);
  const zero = { cache_read_tokens: 0, cache_write_tokens: 0, unpriced: 0 };
  expect(brief.totals).toEqual([
    { surface: 'messenger', turns: 1, input_tokens: 100, output_tokens: 1, cost_usd: 1.25, billed_cost_usd: 0.75, ...zero },
    { surface: 'compat', turns: 2, input_tokens: 30, output_tokens: 2, cost_usd: 2, billed_cost_usd: 1, ...zero },
    { surface: 'mobile', turns: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0, billed_cost_usd: 0, ...zero, unpriced: 1 },
  ]);
  const { body } = await collector.app.inject('/metrics');
  expect(body).toContain('svc_cost_usd_day{surface="messenger",kind="billed"} 0.75\n');
  expect(body).toContain('svc_unpriced_day{surface="mobile"} 1\n');
  expect(now - brief.since).toBeLessThan(25 * 3_600_000);
});

test('the metrics count all active sessions when there are more than a hundred', async () => {
  const inbound = (session: string, ts: number) => ({ kind: 'inbound', ts, session });
  await collector.ingest([
    ...Array.from({ length: 130 }, (_, i) => inbound(`s${i}`, now - 1000)),
    inbound('over', now - 3_600_000),
    { kind: 'turn', ts: now - 3_600_000, session: 'long turn', payload: { what: 'started' } },
  ]);
  const { body } = await collector.app.inject('/metrics');
  expect(body).toContain('\nsvc_sessions_active 131\n');
});

test('/health reports failing samples and failing removal of old events until they work again', async () => {
  const { db, retention, sampler } = collector.context;
  const health = () => collector.read<{ status: string; degraded: string[] }>('/health');
  const run = () => Promise.all([sampler.sample(), retention.run()]);
  db.raw.exec('ALTER TABLE system_sample RENAME TO gone');
  await run();
  expect(await health()).toMatchObject({
    status: 'degraded',
    degraded: [
      expect.stringMatching(/^Old events cannot be removed: /),
      expect.stringMatching(/^The state of the machine cannot be read: /),
    ],
  });
  db.raw.exec('ALTER TABLE gone RENAME TO system_sample');
  await run();
  expect(await health()).toMatchObject({ status: 'ok', degraded: [] });
});
