import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { ListedSession } from '@svc/contract/session.ts';
import type { WhoTouched, WorkMap } from '@svc/contract/insights.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { testEngine, whyNoEngine } from '@svc/testing/model-server/test-engines.ts';
import type { FeedItem } from '../src/feed/feed-item.ts';
import { transcriptEngines, type TranscriptEngine } from '@svc/service-kit/transcript/transcript-line.ts';
import { transcriptRoots } from '@svc/service-kit/transcript/transcript-roots.ts';
import { testUnless, whyNotLinux, whyNoTmux } from '@svc/testing/skip-note.ts';
import { openTestControl, type TestControl } from './open-test-control.ts';
import { openTestPerson, type TestPerson } from './real-engines.ts';

const dirs = Object.fromEntries(transcriptEngines.map((engine) => [engine, testEngine(engine)])) as Record<
  TranscriptEngine,
  string | null
>;
const noTmux = whyNoTmux();
const isTold = process.platform === 'linux';

let person: TestPerson;
let control: TestControl;
let socket: string;
const feed: FeedItem[] = [];

beforeAll(async () => {
  person = await openTestPerson();
  control = await openTestControl({}, { clock: systemClock, transcriptRoots: transcriptRoots({}, person.home) });
  control.collector.context.hub.subscribe((item) => feed.push(item));
  await control.collector.context.transcripts.start();
  const run = path.join(control.collector.dataDir, 'run');
  mkdirSync(run, { recursive: true });
  socket = path.join(run, 'tmux.sock');
});
afterAll(async () => {
  if (noTmux === null) spawnSync('tmux', ['-S', socket, 'kill-server']);
  await control.close();
  await person.close();
});

const waitMs = 30_000;
const tmux = (...args: string[]) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' }).trim();
const screen = (pane: string) => tmux('capture-pane', '-p', '-t', pane);
const sessions = async (query = '') => (await control.read<{ sessions: ListedSession[] }>(`/api/sessions?${query}`)).sessions;
const eventsOf = async (key: string) =>
  (
    await control.read<{ events: TelemetryEvent[] }>(`/api/events?session=${encodeURIComponent(key)}&limit=500`)
  ).events.toReversed();

/** Starts an engine in a terminal, and gives the terminal when the engine listens. It ends with the test, however that ends. */
async function openEngine(engine: TranscriptEngine, dir: string, sign: RegExp): Promise<string> {
  const args = ['new-session', '-d', '-P', '-F', '#{pane_id}', '-x', '120', '-y', '40', '-c', person.project];
  const pane = tmux('-f', '/dev/null', ...args, person.command(engine, dir));
  onTestFinished(() => void spawnSync('tmux', ['-S', socket, 'kill-pane', '-t', pane]));
  await expect.poll(() => screen(pane), { timeout: waitMs }).toMatch(sign);
  return pane;
}
/** Gemini takes an enter key that follows a character within 30 ms for a line break of pasted text. */
const personsPaceMs = 150;

/** Types a line as a person would: Enter is pressed some time after the text is on the screen. */
async function say(pane: string, text: string): Promise<void> {
  tmux('send-keys', '-t', pane, '-l', text);
  await expect.poll(() => screen(pane), { timeout: waitMs }).toContain(text.slice(0, 20));
  await sleep(personsPaceMs);
  tmux('send-keys', '-t', pane, 'Enter');
}
const inPane = async (pane: string) => (await sessions('active=1')).filter(({ tmux_target }) => tmux_target === pane);

describe.each(transcriptEngines)('%s', (engine) => {
  const dir = dirs[engine];
  const tools = {
    claude: (file: string) => `USE_TOOL Read {"file_path":"${file}"}`,
    codex: (file: string) => `USE_TOOL exec_command {"cmd":"cat ${file}"}`,
    gemini: (file: string) => `USE_TOOL read_file {"file_path":"${file}"}`,
  };
  const signs = { claude: /auto mode|for shortcuts|❯/, codex: /Ask Codex|for shortcuts/, gemini: /Type your message/ };

  testUnless(whyNoEngine(engine))(
    'a session in a shell is recorded as ended, with its transcript',
    async () => {
      await person.ask(engine, dir ?? '', tools[engine](path.join(person.project, 'a.txt')));
      const own = async () => (await sessions()).filter(({ engine_id }) => engine_id === engine);
      await expect.poll(async () => (await own())[0]?.last_text ?? '', { timeout: waitMs }).toContain('Tool said:');
      await expect.poll(async () => (await own())[0]?.input_tokens, { timeout: waitMs }).toBe(222);
      const found = await own();
      expect(found).toMatchObject([
        {
          source: 'transcript',
          surface: 'terminal',
          cwd: person.project,
          repo: person.project,
          input_tokens: 222,
          // Gemini counts what it thinks apart.
          output_tokens: engine === 'gemini' ? 44 : 34,
          turns: 1,
          ...(isTold && { state: 'ended', active: false, pid: null }),
        },
      ]);
      const events = await eventsOf(found[0]?.conversation_key ?? '');
      expect(events.map(({ kind }) => kind)).toEqual(['inbound', 'tool', 'tool_result', 'outbound']);
    },
    60_000,
  );

  testUnless(whyNoEngine(engine) ?? noTmux ?? whyNotLinux())(
    'a session in a terminal is recorded with its pane, and ends with its program',
    async () => {
      const pane = await openEngine(engine, dir ?? '', signs[engine]);
      await say(pane, 'please say hello');
      await expect.poll(async () => (await inPane(pane)).length, { timeout: waitMs }).toBe(1);
      const [session] = await inPane(pane);
      expect(session).toMatchObject({
        source: 'terminal',
        multiplexer: 'tmux',
        active: true,
        cwd: person.project,
        engine_id: engine,
      });
      const key = session?.conversation_key ?? '';
      await expect
        .poll(async () => (await eventsOf(key)).map(({ kind }) => kind), { timeout: waitMs })
        .toEqual(['inbound', 'outbound']);
      expect((await sessions()).filter(({ conversation_key }) => conversation_key === key)).toHaveLength(1);

      feed.length = 0;
      expect(await control.post('kill', { session_id: key, hard: true })).toMatchObject({
        status: 200,
        body: { ended: 'process', pid: session?.pid },
      });
      await expect
        .poll(() => feed.some((item) => item.name === 'sessions-changed' && item.data.sessions.includes(key)), {
          timeout: waitMs,
        })
        .toBe(true);
      expect((await sessions()).find(({ conversation_key }) => conversation_key === key)).toMatchObject({
        source: 'transcript',
        state: 'ended',
        active: false,
        pid: null,
        multiplexer: null,
      });
      expect((await control.post('kill', { session_id: key })).status).toBe(409);
      expect((await control.post('send-keys', { session_id: key, text: 'x' })).status).toBe(409);
    },
    90_000,
  );
});

testUnless(whyNoEngine('claude') ?? noTmux ?? whyNotLinux())(
  'a session outside any terminal is recorded, and can be killed but not typed to',
  async () => {
    // A child of tmux, because what this process starts itself counts as the service's own.
    const command = person.command('claude', dirs.claude ?? '', ['-p', 'SLOW please']).replace(/^exec /, '');
    tmux('-f', '/dev/null', 'new-session', '-d', 'sleep 1000');
    tmux('run-shell', '-b', `cd '${person.project}' && ${command} >/dev/null 2>&1`);
    const running = async () => (await sessions('active=1')).filter(({ title }) => title === 'SLOW please');
    await expect
      .poll(running, { timeout: waitMs })
      .toMatchObject([{ source: 'transcript', state: 'running', multiplexer: null }]);
    const [session] = await running();
    const session_id = session?.conversation_key ?? '';
    expect((await control.post('send-keys', { session_id, text: 'x' })).status).toBe(409);
    expect((await control.post('stop', { session_id })).status).toBe(409);
    expect(await control.post('kill', { session_id })).toMatchObject({
      status: 200,
      body: { ended: 'process', pid: session?.pid },
    });
    expect(await running()).toEqual([]);
    await expect.poll(() => person.model.open, { timeout: waitMs }).toBe(0);
  },
  90_000,
);

testUnless(whyNoEngine('claude') ?? noTmux ?? whyNotLinux())(
  'two programs in one folder are two sessions: the map flags their repository, and controls reach the right one',
  async () => {
    const dir = dirs.claude ?? '';
    const [one, two] = [await openEngine('claude', dir, /❯/), await openEngine('claude', dir, /❯/)];
    await say(one, `USE_TOOL Read {"file_path":"${path.join(person.project, 'a.txt')}"}`);
    await say(two, 'please say hello');
    await expect.poll(async () => [(await inPane(one)).length, (await inPane(two)).length], { timeout: waitMs }).toEqual([1, 1]);
    const keyOf = async (pane: string) => (await inPane(pane))[0]?.conversation_key ?? '';
    const [first, second] = [await keyOf(one), await keyOf(two)];
    expect(first).not.toBe(second);
    await expect.poll(async () => (await eventsOf(first)).some(({ kind }) => kind === 'tool'), { timeout: waitMs }).toBe(true);

    const { places } = await control.read<WorkMap>('/api/map');
    expect(places).toMatchObject([{ place: person.project, kind: 'repo', shared: true }]);
    expect(places[0]?.sessions.map(({ conversation_key }) => conversation_key).toSorted()).toEqual([first, second].toSorted());
    const who = await control.read<WhoTouched>(`/api/who?path=${encodeURIComponent(path.join(person.project, 'a.txt'))}`);
    expect(who.sessions.filter(({ active }) => active)).toMatchObject([{ conversation_key: first, surface: 'terminal' }]);

    expect((await control.post('send-keys', { session_id: second, text: 'SLOW please', enter: true })).status).toBe(200);
    await expect.poll(async () => (await inPane(two))[0]?.state, { timeout: waitMs }).toBe('running');
    await expect.poll(() => person.model.open, { timeout: waitMs }).toBe(1);
    expect((await control.post('stop', { session_id: second })).status).toBe(200);
    await expect.poll(() => person.model.open, { timeout: waitMs }).toBe(0);
    await expect.poll(() => screen(two), { timeout: waitMs }).toMatch(/Interrupted/i);

    const { status, body } = await control.send('GET', `/api/control/diff?session_id=${encodeURIComponent(first)}`);
    expect([status, body['message']]).toEqual([409, expect.stringContaining('git refused')]);
    expect((await control.post('kill', { session_id: first, hard: true })).status).toBe(200);
    await expect
      .poll(async () => (await sessions('active=1')).map(({ conversation_key }) => conversation_key), { timeout: waitMs })
      .toEqual([second]);
    const audit = await control.audit();
    expect(audit.slice(0, 4).map(({ action, target, outcome }) => [action, target, outcome])).toEqual([
      ['kill', first, 'done'],
      ['diff', first, 'refused'],
      ['stop', second, 'done'],
      ['send-keys', second, 'done'],
    ]);
  },
  120_000,
);
