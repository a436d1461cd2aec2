import { appendFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inbound, claudeId, openTestTranscripts, transcriptLines, type TestTranscripts } from './open-test-transcripts.ts';

let house: TestTranscripts;
beforeEach(async () => {
  house = openTestTranscripts();
  await house.begin();
});
afterEach(() => house.close());

const lines = transcriptLines('claude');
const whole = `${lines.join('\n')}\n`;
const key = `terminal:claude:${claudeId}`;
const kinds = ['inbound', 'tool', 'tool_result', 'outbound'];
const kindsOf = (events: { kind: string }[]) => events.map(({ kind }) => kind);

test('lists a transcript as one session, with its title, folder, model and tokens', async () => {
  writeFileSync(house.claudeFile, whole);
  const { sessions } = await house.follow();
  expect(await sessions()).toMatchObject([
    {
      conversation_key: key,
      source: 'transcript',
      surface: 'terminal',
      state: 'ended',
      active: false,
      engine_id: 'claude',
      engine_session_id: claudeId,
      model: 'claude-opus-5-5',
      title: 'USE_TOOL Read {"file_path":"/home/me/project/a.txt"}',
      cwd: '/home/me/project',
      repo: null,
      pid: null,
      multiplexer: null,
      input_tokens: 222,
      output_tokens: 34,
      last_text: 'Tool said: 1\thi\n2\t',
      last_event_at: Date.parse('2026-11-21T10:56:44.232Z'),
    },
  ]);
});

test('stores what a transcript says as inbound, thinking, tool, tool_result and outbound events, with their own times', async () => {
  const at = '2026-11-21T10:56:43.750Z';
  const content = [{ type: 'thinking', thinking: 'The file has it.' }];
  const thought = { type: 'assistant', uuid: 'thought', timestamp: at, message: { id: 'thought', role: 'assistant', content } };
  writeFileSync(house.claudeFile, `${lines.toSpliced(7, 0, JSON.stringify(thought)).join('\n')}\n`);
  const { stored, collector } = await house.follow();
  const events = await stored();
  expect(kindsOf(events)).toEqual(kinds.toSpliced(1, 0, 'thinking'));
  expect(events[1]).toMatchObject({ text: 'The file has it.', ts: Date.parse(at) });
  expect(events[0]).toMatchObject({ session: key, surface: 'terminal', ts: Date.parse('2026-11-21T10:56:43.713Z') });
  expect(events[2]).toMatchObject({ text: 'Read', payload: { cwd: '/home/me/project', engine_id: 'claude' } });
  const { sessions } = await collector.read<{ sessions: object[] }>('/api/who?path=/home/me/project/a.txt&since=0');
  expect(sessions).toMatchObject([{ conversation_key: key, touches: 1 }]);
});

test('follows a transcript that grows, and stores nothing twice after a restart', async () => {
  const { stored, collector } = await house.follow();
  writeFileSync(house.claudeFile, `${lines.slice(0, 6).join('\n')}\n`);
  await expect.poll(async () => kindsOf(await stored())).toEqual(kinds.slice(0, 1));
  const items: unknown[] = [];
  collector.context.hub.subscribe((item) => items.push(item));
  appendFileSync(house.claudeFile, `${lines.slice(6).join('\n')}\n`);
  await expect.poll(async () => kindsOf(await stored())).toEqual(kinds);
  await expect.poll(() => items).toContainEqual({ name: 'sessions-changed', data: { sessions: [key] } });
  await house.closeAll();
  const again = await house.follow();
  expect(kindsOf(await again.stored())).toEqual(kinds);
  expect(await again.sessions()).toMatchObject([{ events: 4, input_tokens: 222 }]);
});

test('stores at the next start what was written while the collector was away', async () => {
  writeFileSync(house.claudeFile, whole);
  expect(kindsOf(await (await house.follow()).stored())).toEqual(kinds);
});

test('sessions whose program has ended are not active', async () => {
  const { collector, sessions } = await house.follow();
  await collector.ingest({ kind: 'inbound', session: 'of the core', ts: Date.now() - 60_000 });
  for (const n of [1, 2, 3]) {
    const line = { type: 'user', uuid: `u${n}`, timestamp: new Date().toISOString(), message: { role: 'user', content: 'hi' } };
    writeFileSync(house.claudeFile.replace(/^(.*-)[0-9a-f]{2}/, `$1${n + 10}`), `${JSON.stringify(line)}\n`);
  }
  await expect.poll(async () => (await sessions()).length).toBe(4);
  expect(await sessions('active=1&limit=1')).toMatchObject([{ conversation_key: 'of the core' }]);
  expect((await collector.app.inject('/metrics')).body).toContain('\nsvc_sessions_active 1\n');
});

test('a session of a terminal without a known transcript is not active', async () => {
  const { collector, sessions } = await house.follow();
  await collector.ingest({ kind: 'inbound', session: 'of the core', ts: Date.now() - 60_000 });
  await collector.ingest({ kind: 'inbound', session: key, ts: Date.now() - 30_000 });
  expect(await sessions('active=1&limit=1')).toMatchObject([{ conversation_key: 'of the core' }]);
});

test('transcripts of engines in the data folder are not sessions of a terminal, also through a symbolic link', async () => {
  await house.closeAll();
  const link = path.join(house.home, 'link-to-data');
  symlinkSync(house.dataDir, link);
  const { collector, sessions } = await house.follow({ SVC_DATA_DIR: link });
  const seen = () => collector.context.db.raw.prepare('SELECT count(*) AS n FROM transcript').get();
  writeFileSync(house.claudeFile, whole.replaceAll('/home/me/project', path.join(house.dataDir, 'workspace')));
  await expect.poll(seen).toEqual({ n: 1 });
  expect(await sessions()).toEqual([]);
});

test('sessions-changed names only sessions that have changed', async () => {
  writeFileSync(house.claudeFile, whole);
  const { collector, sessions } = await house.follow();
  const items: { name: string }[] = [];
  collector.context.hub.subscribe((item) => items.push(item));
  const later = Date.now() + 5000;
  utimesSync(house.claudeFile, later / 1000, later / 1000);
  const seen = () => collector.context.db.raw.prepare('SELECT changed_at FROM transcript').get()?.['changed_at'];
  await expect.poll(seen).toBe(later);
  await sessions();
  await collector.ingest({ kind: 'denied', session: 'stranger' });
  await collector.ingest({ kind: 'inbound', session: 'other' });
  await expect
    .poll(() => items.filter(({ name }) => name === 'sessions-changed'))
    .toEqual([{ name: 'sessions-changed', data: { sessions: ['other'] } }]);
});

test('lists a transcript from before the first look by its beginning and end, and stores only what follows', async () => {
  const fresh = openTestTranscripts();
  try {
    const filler = JSON.stringify({ type: 'attachment', text: 'x'.repeat(100_000) });
    writeFileSync(fresh.claudeFile, `${inbound(1, 'The title')}${`${filler}\n`.repeat(20)}${lines.at(-6)}\n`);
    // The clock of files is a tick behind, which the service allows for.
    await expect.poll(() => Date.now() - statSync(fresh.claudeFile).birthtimeMs).toBeGreaterThan(50);
    const { stored, sessions } = await fresh.follow();
    expect(await stored()).toEqual([]);
    expect(await sessions()).toMatchObject([{ title: 'The title', model: 'claude-opus-5-5', events: 0, input_tokens: null }]);
    appendFileSync(fresh.claudeFile, inbound(2));
    await expect.poll(async () => (await stored()).map(({ text }) => text)).toEqual(['word 2']);
  } finally {
    await fresh.close();
  }
});

test('SVC_TRANSCRIPTS=list lists sessions without storing messages; off does not look', async () => {
  writeFileSync(house.claudeFile, whole);
  const off = await house.follow({ SVC_TRANSCRIPTS: 'off' });
  expect(await off.sessions()).toEqual([]);
  await house.closeAll();
  const list = await house.follow({ SVC_TRANSCRIPTS: 'list' });
  expect(await list.sessions()).toMatchObject([{ conversation_key: key, events: 0, last_text: null }]);
  expect(await list.stored()).toEqual([]);
});

test('masks what looks like a secret before storing it', async () => {
  const secret = `ghp_${'aB3dE5gH7jK9'.repeat(3)}`;
  writeFileSync(house.claudeFile, inbound(1, `my token is ${secret}`));
  const { stored } = await house.follow({ SVC_INSIGHTS_CONTROL_TOKEN: 'a-token-of-control' });
  expect(JSON.stringify(await stored())).toContain('[redacted:');
  expect(JSON.stringify(await stored())).not.toContain(secret);
});

test('masks secrets in titles, when listing and following, and where the title is truncated inside of one', async () => {
  const secret = `ghp_${'aB3dE5gH7jK9'.repeat(3)}`;
  const text = `${'so many words '.repeat(8)}${secret}`;
  writeFileSync(house.claudeFile, inbound(1, text));
  for (const SVC_TRANSCRIPTS of ['list', 'follow']) {
    const { sessions } = await house.follow({ SVC_TRANSCRIPTS });
    const [session] = await sessions();
    expect(session?.title).toContain('so many words');
    expect(JSON.stringify(session)).not.toContain(secret.slice(0, 8));
  }
});
