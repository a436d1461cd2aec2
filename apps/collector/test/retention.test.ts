import type { SearchAnswer } from '@svc/contract/search.ts';
import { afterEach, expect, test } from 'vitest';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector | null = null;
afterEach(() => collector?.close());

const dayMs = 24 * 3_600_000;

function open(env: Record<string, string>) {
  const opened = openTestCollector(env);
  collector = opened;
  const at = (days: number) => opened.clock.now() - days * dayMs;
  const ids = async () => (await opened.events('limit=1000')).map(({ id }) => id).toSorted();
  return { opened, at, ids };
}

test('each kind is kept for its own days, and the rest for the usual ones', async () => {
  const { opened, at, ids } = open({ SVC_RETENTION_DAYS: '30', SVC_RETENTION_DAYS_BY_KIND: 'thinking=5,delivery=0,tool=100' });
  const kinds = ['inbound', 'thinking', 'delivery', 'tool'];
  const ages = [200, 90, 20, 3];
  await opened.ingest(
    kinds.flatMap((kind) => ages.map((age) => ({ id: `${kind}-${age}`, kind, ts: at(age), session: 's', text: 'word' }))),
  );
  await opened.ingest({ id: 'newest', kind: 'inbound', ts: at(0) });
  expect((await opened.read<SearchAnswer>('/api/search?q=word')).hits).toBe(16);
  await opened.context.retention.run();
  const kept = [
    'delivery-20',
    'delivery-200',
    'delivery-3',
    'delivery-90',
    'inbound-20',
    'inbound-3',
    'newest',
    'thinking-3',
    'tool-20',
    'tool-3',
    'tool-90',
  ];
  expect(await ids()).toEqual(kept);
  expect((await opened.read<SearchAnswer>('/api/search?q=word')).hits).toBe(10);
  opened.clock.advance(15 * dayMs);
  // Time that passes begins a run by itself, at an earlier time.
  await opened.context.retention.run();
  await opened.context.retention.run();
  expect(await ids()).not.toContain('inbound-20');
  expect(await ids()).not.toContain('thinking-3');
  expect(await ids()).toContain('inbound-3');
});

test('sums and sessions outlive the events, and numbers are not given twice', async () => {
  const { opened, at, ids } = open({ SVC_RETENTION_DAYS: '1', SVC_RETENTION_DAYS_BY_KIND: '' });
  const used = { kind: 'token-usage', ts: at(10), session: 's', surface: 'compat', payload: { input_tokens: 5 } };
  await opened.ingest(Array.from({ length: 1000 }, (_, i) => ({ ...used, id: `e${i}` })));
  await opened.context.retention.run();
  expect(await ids()).toEqual(['e999']);
  const { usage } = await opened.read<{ usage: { turns: number; input_tokens: number }[] }>('/api/usage');
  expect(usage).toMatchObject([{ turns: 1000, input_tokens: 5000 }]);
  const { sessions } = await opened.read<{ sessions: { events: number }[] }>('/api/sessions');
  expect(sessions).toMatchObject([{ events: 1000 }]);
  await opened.ingest({ id: 'next', kind: 'x', text: 'found', session: 's' });
  expect((await opened.read<SearchAnswer>('/api/search?q=found')).sessions).toMatchObject([{ event_id: 'next' }]);
});

test('samples of the machine are kept for days of their own', async () => {
  const { opened } = open({ SVC_RETENTION_DAYS_BY_KIND: 'system-sample=2' });
  await opened.context.sampler.sample();
  opened.clock.advance(2 * dayMs + 1);
  await opened.context.sampler.sample();
  await opened.context.retention.run();
  await opened.context.retention.run();
  const { samples } = await opened.read<{ samples: { at: number }[] }>('/api/system');
  expect(samples.every(({ at }) => at > opened.clock.now() - 2 * dayMs)).toBe(true);
});

test('0 days keep everything', async () => {
  const { opened, ids } = open({ SVC_RETENTION_DAYS: '0' });
  await opened.ingest([
    { id: 'old', kind: 'x', ts: 1 },
    { id: 'new', kind: 'x' },
  ]);
  await opened.context.retention.run();
  expect(await ids()).toEqual(['new', 'old']);
});

test('metrics are there for Prometheus, behind the token of reads', async () => {
  const { opened } = open({ SVC_INSIGHTS_TOKEN: 'a-token-of-insights' });
  expect((await opened.app.inject('/metrics')).statusCode).toBe(401);
  const headers = { authorization: 'Bearer a-token-of-insights', 'content-type': 'application/json' };
  const event = { kind: 'token-usage', surface: 'com"pat\n', payload: { input_tokens: 5 }, cost_usd: 0.5 };
  await opened.app.inject({ method: 'POST', url: '/ingest', headers, payload: JSON.stringify([event, {}]) });
  await opened.context.sampler.sample();
  const answer = await opened.app.inject({ url: '/metrics', headers });
  expect(answer.headers['content-type']).toContain('text/plain');
  expect(answer.body).toContain('svc_events_ingested_total 1\n');
  expect(answer.body).toContain('svc_events_rejected_total 1\n');
  expect(answer.body).toContain('svc_tokens_day{surface="com\\"pat\\n",direction="input"} 5\n');
  expect(answer.body).toMatch(/svc_process_memory_bytes\{name="collector",kind="host"\} \d{8}/);
});
