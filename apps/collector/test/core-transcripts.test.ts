import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ListedSession } from '@svc/contract/session.ts';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { transcriptRoots } from '@svc/service-kit/transcript/transcript-roots.ts';
import { openTestControl, type TestControl } from './open-test-control.ts';
import { claudeId, transcriptLines } from './open-test-transcripts.ts';

const key = 'messenger:m1:user:7';
const facts = {
  engine_id: 'claude',
  engine_session_id: claudeId,
  model: 'claude-opus-5-5',
  title: 'About a file',
  last_active_at: Date.parse('2026-11-21T11:00:00Z'),
};

let home: TemporaryFolder;
let control: TestControl;
let sessions: Record<string, object>;
beforeEach(async () => {
  home = temporaryFolder();
  sessions = {};
  control = await openTestControl(sessions, { clock: systemClock, transcriptRoots: transcriptRoots({}, home.path) });
});
afterEach(async () => {
  await control.close();
  home.remove();
});

const workspace = () => path.join(control.collector.dataDir, 'workspace');
const list = async () => (await control.read<{ sessions: ListedSession[] }>('/api/sessions')).sessions;
const stored = async () => (await control.read<{ events: TelemetryEvent[] }>('/api/events')).events.toReversed();
const ingest = (event: object) => control.collector.context.commitQueue.submit([event]);

/** The transcript of a session in the core's workspace, as its engine writes it (`sdk-ts`) or a person's terminal (`cli`). */
function writeTranscript(entrypoint: string): void {
  const folder = path.join(home.path, '.claude/projects', workspace().replaceAll(/[^A-Za-z0-9]/g, '-'));
  mkdirSync(folder, { recursive: true });
  const lines = transcriptLines('claude').map((line) =>
    line
      .replaceAll('"/home/me/project"', JSON.stringify(workspace()))
      .replaceAll('"entrypoint":"cli"', `"entrypoint":"${entrypoint}"`),
  );
  writeFileSync(path.join(folder, `${claudeId}.jsonl`), `${lines.join('\n')}\n`);
}

/** A session of the core, whose engine has written a transcript that the collector has read. */
async function followTranscript(): Promise<void> {
  sessions[key] = { ...facts, cwd: workspace() };
  await ingest({ kind: 'inbound', session: key, surface: 'messenger', identity: '7', principal: 'ann', text: 'hello' });
  await control.collector.context.transcripts.start();
  writeTranscript('sdk-ts');
  const seen = () => control.collector.context.db.raw.prepare('SELECT conversation_key FROM transcript').all();
  await expect.poll(seen).toMatchObject([{ conversation_key: key }]);
}

test('a session of the core and its transcript are one row, and turns of the core are stored once', async () => {
  await followTranscript();
  expect(await list()).toMatchObject([
    {
      conversation_key: key,
      source: 'core',
      surface: 'messenger',
      principal: 'ann',
      engine_id: 'claude',
      engine_session_id: claudeId,
      title: 'About a file',
      cwd: workspace(),
      events: 1,
    },
  ]);
  expect((await stored()).map(({ kind }) => kind)).toEqual(['inbound']);
});

test('of a deleted session neither its title in the core nor the first words of its transcript are shown', async () => {
  await followTranscript();
  expect(await list()).toMatchObject([{ title: 'About a file', engine_id: 'claude' }]);
  delete sessions[key];
  await ingest({ kind: 'session', session: key, payload: { what: 'forgotten' } });
  expect(await list()).toMatchObject([{ title: null, last_text: null }]);
});

test('a message typed in a terminal to a session of the core is stored under its key and keeps its channel and sender', async () => {
  sessions[key] = { ...facts, cwd: workspace(), claimed_by: 'ann' };
  await ingest({ kind: 'inbound', session: key, surface: 'messenger', identity: '7', principal: 'ann', ts: 1000 });
  await control.collector.context.transcripts.start();
  writeTranscript('cli');
  await expect
    .poll(async () => (await stored()).map(({ kind }) => kind))
    .toEqual(['inbound', 'inbound', 'tool', 'tool_result', 'outbound']);
  expect(new Set((await stored()).map(({ session }) => session))).toEqual(new Set([key]));
  expect(await list()).toMatchObject([
    { conversation_key: key, source: 'core', state: 'claimed', surface: 'messenger', identity: '7', principal: 'ann', events: 5 },
  ]);
});

test('a transcript of an engine of the core that belongs to no session makes none', async () => {
  await control.collector.context.transcripts.start();
  writeTranscript('sdk-ts');
  const seen = () => control.collector.context.db.raw.prepare('SELECT count(*) AS n FROM transcript').get();
  await expect.poll(seen).toEqual({ n: 1 });
  expect(await list()).toEqual([]);
  expect(await stored()).toEqual([]);
});

test('the list shows the terminal that the core recorded, even without a transcript', async () => {
  sessions[key] = { ...facts, multiplexer: 'tmux', tmux_target: 'work:0.1' };
  await ingest({ kind: 'inbound', session: key, surface: 'terminal' });
  expect(await list()).toMatchObject([{ conversation_key: key, multiplexer: 'tmux', tmux_target: 'work:0.1', source: 'core' }]);
});
