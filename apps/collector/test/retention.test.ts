import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ListedSession } from '@svc/contract/session.ts';
import type { SearchAnswer } from '@svc/contract/insights.ts';
import { afterEach, expect, test } from 'vitest';
import { newTranscript } from '../src/transcript/transcript-row.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector | null = null;
afterEach(() => collector?.close());

const dayMs = 24 * 3_600_000;

function open(env: Record<string, string>) {
  const opened = openTestCollector(env);
  collector = opened;
  const at = (days: number) => opened.clock.now() - days * dayMs;
  /** As if each event had come at the time that it says. */
  const ingest = async (events: object) => {
    await opened.ingest(events);
    await opened.context.db.run('UPDATE event SET received_at = ts');
  };
  const ids = async () => (await opened.events('limit=1000')).map(({ id }) => id).toSorted();
  return { opened, at, ids, ingest };
}

test('keeps each kind for its configured days, and other kinds for the default', async () => {
  const { opened, at, ids, ingest } = open({
    SVC_RETENTION_DAYS: '30',
    SVC_RETENTION_DAYS_BY_KIND: 'thinking=5,delivery=0,tool=100',
  });
  const kinds = ['inbound', 'thinking', 'delivery', 'tool'];
  const ages = [200, 90, 20, 3];
  await ingest(
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

test('sums and sessions outlive their events, and sequence numbers are not reused', async () => {
  const { opened, at, ids, ingest } = open({ SVC_RETENTION_DAYS: '1', SVC_RETENTION_DAYS_BY_KIND: '' });
  const used = { kind: 'token-usage', ts: at(10), session: 's', surface: 'compat', payload: { input_tokens: 5 } };
  await ingest(Array.from({ length: 1000 }, (_, i) => ({ ...used, id: `e${i}` })));
  await opened.context.retention.run();
  expect(await ids()).toEqual(['e999']);
  const { usage } = await opened.read<{ usage: { turns: number; input_tokens: number }[] }>('/api/usage');
  expect(usage).toMatchObject([{ turns: 1000, input_tokens: 5000 }]);
  const { sessions } = await opened.read<{ sessions: { events: number }[] }>('/api/sessions');
  expect(sessions).toMatchObject([{ events: 1000 }]);
  await opened.ingest({ id: 'next', kind: 'x', text: 'found', session: 's' });
  expect((await opened.read<SearchAnswer>('/api/search?q=found')).sessions).toMatchObject([{ event_id: 'next' }]);
});

test('keeps samples of the machine for their configured days', async () => {
  const { opened } = open({ SVC_RETENTION_DAYS_BY_KIND: 'system-sample=2' });
  await opened.context.sampler.sample();
  opened.clock.advance(2 * dayMs + 1);
  await opened.context.sampler.sample();
  await opened.context.retention.run();
  await opened.context.retention.run();
  const { samples } = await opened.read<{ samples: { at: number }[] }>('/api/system');
  expect(samples.every(({ at }) => at > opened.clock.now() - 2 * dayMs)).toBe(true);
});

/** Stores a transcript whose last message is this many days old. */
async function keepTranscript({ context, dataDir }: TestCollector, name: string, days: number): Promise<string> {
  const at = context.clock.now() - days * dayMs;
  const conversation_key = `terminal:claude:${name}`;
  const file = path.join(dataDir, `${name}.jsonl`);
  const is = { engine: 'claude', engine_session_id: name, cwd: null, is_whole: 1, file_id: '1:1' } as const;
  const row = { ...newTranscript({ ...is, file }), conversation_key, title: name, started_at: at, last_at: at };
  await context.transcriptStore.save(row);
  await context.transcriptStore.saveSession(row, 'me');
  return file;
}
const known = ({ context }: TestCollector) => context.db.all<{ file: string }>('SELECT file FROM transcript ORDER BY file');

test('forgets a transcript once its file is gone and its days are over, but keeps its session', async () => {
  const { opened } = open({ SVC_RETENTION_DAYS: '30' });
  await keepTranscript(opened, 'gone', 31);
  const young = await keepTranscript(opened, 'young', 29);
  const there = await keepTranscript(opened, 'there', 31);
  writeFileSync(there, '');
  await opened.context.retention.run();
  expect(await known(opened)).toEqual([{ file: there }, { file: young }]);
  const { sessions } = await opened.read<{ sessions: ListedSession[] }>('/api/sessions');
  expect(Object.fromEntries(sessions.map(({ conversation_key, title }) => [conversation_key, title]))).toEqual({
    'terminal:claude:gone': null,
    'terminal:claude:there': 'there',
    'terminal:claude:young': 'young',
  });
  expect(sessions.find(({ title }) => title === null)).toMatchObject({
    source: 'transcript',
    surface: 'terminal',
    active: false,
    input_tokens: null,
    ...(process.platform === 'linux' && { state: 'ended' }),
  });
});

test('a run checks some thousands of transcripts, and the next one continues from there', async () => {
  const { opened } = open({ SVC_RETENTION_DAYS: '30' });
  const insert = opened.context.db.raw
    .prepare(`INSERT INTO transcript (file, engine, is_core, is_title_given, started_at, last_at,
    file_id, size, changed_at, read_to, is_skipping, is_whole, is_busy, is_part) VALUES (?, 'codex', 0, 0, 1, 1, '', 0, 0, 0, 0, 1, 0, 0)`);
  opened.context.db.raw.exec('BEGIN');
  // Different names of one folder, which is there.
  for (let i = 0; i < 5000; i++) insert.run(`${'/'.repeat(i + 2)}tmp`);
  for (let i = 0; i < 300; i++) insert.run(`/there/is/none/${i}`);
  opened.context.db.raw.exec('COMMIT');
  await opened.context.retention.run();
  expect(await known(opened)).toHaveLength(5300);
  await opened.context.retention.run();
  expect(await known(opened)).toHaveLength(5000);
});

test('with 0 days no transcript is forgotten', async () => {
  const { opened } = open({ SVC_RETENTION_DAYS: '0' });
  const file = await keepTranscript(opened, 'gone', 3000);
  await opened.context.retention.run();
  expect(await known(opened)).toEqual([{ file }]);
});

test('with 0 days every event is kept', async () => {
  const { opened, ids } = open({ SVC_RETENTION_DAYS: '0' });
  await opened.ingest([
    { id: 'old', kind: 'x', ts: 1 },
    { id: 'new', kind: 'x' },
  ]);
  await opened.context.retention.run();
  expect(await ids()).toEqual(['new', 'old']);
});

test('serves metrics for Prometheus with the read token', async () => {
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
  expect(answer.body).toContain('# TYPE svc_events_ingested_total counter\n');
  expect(answer.body).toContain('# TYPE svc_events_waiting gauge\n');
  expect((await opened.app.inject({ url: '/metrics', headers })).body).toContain('svc_events_ingested_total 1\n');
  expect(answer.body).toContain('svc_tokens_day{surface="com\\"pat\\n",direction="input"} 5\n');
  expect(answer.body).toMatch(/svc_process_memory_bytes\{name="collector",kind="host"\} \d{8}/);
});
