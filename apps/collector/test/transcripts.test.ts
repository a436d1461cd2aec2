import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  createWriteStream,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { claudeId, openTestTranscripts, transcriptLines, type TestTranscripts } from './open-test-transcripts.ts';
import { openTestCollector } from './open-test-collector.ts';
import { freePort, killHard, startCollectorProcess } from './processes.ts';

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

const inbound = (n: number, text = `word ${n}`) =>
  `${JSON.stringify({ type: 'user', uuid: `u${n}`, timestamp: new Date(1_795_000_000_000 + n).toISOString(), cwd: '/home/me/project', sessionId: claudeId, message: { role: 'user', content: text } })}\n`;

test('a transcript alone is one session, with its title, folder, model and tokens', async () => {
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

test('what is said in a transcript is told as inbound, thinking, tool, tool_result and outbound, at the time it was said', async () => {
  writeFileSync(house.claudeFile, whole);
  const { told, collector } = await house.follow();
  const events = await told();
  expect(kindsOf(events)).toEqual(kinds);
  expect(events[0]).toMatchObject({ session: key, surface: 'terminal', ts: Date.parse('2026-11-21T10:56:43.713Z') });
  expect(events[1]).toMatchObject({ text: 'Read', payload: { cwd: '/home/me/project', engine_id: 'claude' } });
  const { sessions } = await collector.read<{ sessions: object[] }>('/api/who?path=/home/me/project/a.txt&since=0');
  expect(sessions).toMatchObject([{ conversation_key: key, touches: 1 }]);
});

test('a transcript that is written to is followed, and a restart tells nothing again', async () => {
  const { told, collector } = await house.follow();
  writeFileSync(house.claudeFile, `${lines.slice(0, 6).join('\n')}\n`);
  await expect.poll(async () => kindsOf(await told())).toEqual(kinds.slice(0, 1));
  const items: unknown[] = [];
  collector.context.hub.subscribe((item) => items.push(item));
  appendFileSync(house.claudeFile, `${lines.slice(6).join('\n')}\n`);
  await expect.poll(async () => kindsOf(await told())).toEqual(kinds);
  await expect.poll(() => items).toContainEqual({ name: 'sessions-changed', data: { sessions: [key] } });
  await house.closeAll();
  const again = await house.follow();
  expect(kindsOf(await again.told())).toEqual(kinds);
  expect(await again.sessions()).toMatchObject([{ events: 4, input_tokens: 222 }]);
});

test('what was written while nobody looked is told at the next start', async () => {
  writeFileSync(house.claudeFile, whole);
  expect(kindsOf(await (await house.follow()).told())).toEqual(kinds);
});

test('sessions whose program has ended take no place among the active ones', async () => {
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

test('what engines wrote in the data folder is no session of a terminal, also when that folder has another name', async () => {
  await house.closeAll();
  const link = path.join(house.home, 'link-to-data');
  symlinkSync(house.dataDir, link);
  const { collector, sessions } = await house.follow({ SVC_DATA_DIR: link });
  const seen = () => collector.context.db.raw.prepare('SELECT count(*) AS n FROM transcript').get();
  writeFileSync(house.claudeFile, whole.replaceAll('/home/me/project', path.join(house.dataDir, 'workspace')));
  await expect.poll(seen).toEqual({ n: 1 });
  expect(await sessions()).toEqual([]);
});

test('sessions-changed tells of a change, and of nothing else', async () => {
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

test('a line that is cut in the middle waits for its rest', async () => {
  const { told } = await house.follow();
  const cut = whole.indexOf('Tool said') + 3;
  writeFileSync(house.claudeFile, whole.slice(0, cut));
  await expect.poll(async () => kindsOf(await told())).toEqual(kinds.slice(0, 3));
  appendFileSync(house.claudeFile, whole.slice(cut));
  await expect.poll(async () => kindsOf(await told())).toEqual(kinds);
});

test('a line that never ended costs itself and nothing more', async () => {
  writeFileSync(house.claudeFile, `${inbound(1)}{"type":"user","uuid":"u2","mess\n${inbound(3)}`);
  const { told } = await house.follow();
  expect((await told()).map(({ text }) => text)).toEqual(['word 1', 'word 3']);
});

test('a transcript that is cut short, or replaced by another file, is read anew, and nothing is told twice', async () => {
  writeFileSync(house.claudeFile, inbound(1) + inbound(2));
  const { told } = await house.follow();
  const texts = async () => (await told()).map(({ text }) => text);
  truncateSync(house.claudeFile, 0);
  appendFileSync(house.claudeFile, inbound(1) + inbound(3));
  await expect.poll(texts).toEqual(['word 1', 'word 2', 'word 3']);
  const next = `${house.claudeFile}.next`;
  writeFileSync(next, inbound(2) + inbound(1) + inbound(3) + inbound(4));
  renameSync(next, house.claudeFile);
  await expect.poll(texts).toEqual(['word 1', 'word 2', 'word 3', 'word 4']);
  unlinkSync(house.claudeFile);
  writeFileSync(house.claudeFile, inbound(5));
  await expect.poll(texts).toEqual(['word 1', 'word 2', 'word 3', 'word 4', 'word 5']);
});

test('a line of 100 MB is passed over in bounded memory, and what follows it is told', async () => {
  const file = createWriteStream(house.claudeFile);
  file.write(inbound(1));
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  for (let i = 0; i < 100; i++) if (!file.write(megabyte)) await once(file, 'drain');
  file.end(`\n${inbound(2)}`);
  await once(file, 'close');
  const before = process.memoryUsage().rss;
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss - before)), 5);
  const { told } = await house.follow();
  clearInterval(watch);
  expect((await told()).map(({ text }) => text)).toEqual(['word 1', 'word 2']);
  expect(peak).toBeLessThan(64 * 1024 * 1024);
});

test('what could not be stored is told later', async () => {
  const { collector, told } = await house.follow();
  const { db, commitQueue } = collector.context;
  db.raw.exec("CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  writeFileSync(house.claudeFile, whole);
  await expect.poll(() => commitQueue.lastError).toContain('disk full');
  const degraded = async () => (await collector.read<{ degraded: string[] }>('/health')).degraded;
  await expect.poll(degraded).toContainEqual(expect.stringMatching(/^Transcripts cannot be read \(1\)/));
  db.raw.exec('DROP TRIGGER full');
  await expect.poll(async () => kindsOf(await told())).toEqual(kinds);
  await expect.poll(degraded).toEqual([]);
});

test('transcripts are followed also when nothing could be stored at the start', async () => {
  const fresh = openTestTranscripts();
  onTestFinished(() => fresh.close());
  const before = openTestCollector({ SVC_DATA_DIR: fresh.dataDir });
  before.context.db.raw.exec("CREATE TRIGGER full BEFORE INSERT ON fact BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  await before.close();
  const { told, collector } = await fresh.follow();
  collector.context.db.raw.exec('DROP TRIGGER full');
  // When the first look was is not known until now, so this counts as old.
  writeFileSync(fresh.claudeFile, inbound(1));
  await expect.poll(() => collector.context.db.raw.prepare('SELECT count(*) AS n FROM transcript').get()).toEqual({ n: 1 });
  appendFileSync(fresh.claudeFile, inbound(2));
  await expect.poll(async () => (await told()).at(-1)?.text).toBe('word 2');
});

test('links, pipes, folders of other names and files of other users are not read', async () => {
  const elsewhere = path.join(house.home, 'elsewhere');
  mkdirSync(elsewhere);
  const name = (n: number) => `0000000${n}-0000-4000-8000-000000000000.jsonl`;
  writeFileSync(path.join(elsewhere, name(1)), inbound(1, 'behind a link'));
  symlinkSync(path.join(elsewhere, name(1)), path.join(house.claudeDir, name(1)));
  symlinkSync(elsewhere, path.join(path.dirname(house.claudeDir), '-linked'));
  execFileSync('mkfifo', [path.join(house.claudeDir, name(2))]);
  mkdirSync(path.join(house.claudeDir, name(3)));
  writeFileSync(path.join(house.claudeDir, 'notes.jsonl'), inbound(4, 'no transcript'));
  if (process.getuid?.() === 0) {
    writeFileSync(path.join(house.claudeDir, name(5)), inbound(5, 'of another user'));
    chownSync(path.join(house.claudeDir, name(5)), 12_345, 12_345);
    const other = path.join(path.dirname(house.claudeDir), '-other');
    mkdirSync(other);
    writeFileSync(path.join(other, name(6)), inbound(6, "in another user's folder"));
    chownSync(other, 12_345, 12_345);
  }
  writeFileSync(path.join(house.claudeDir, name(7)), inbound(7, 'ours'));
  const { told } = await house.follow();
  expect((await told()).map(({ text }) => text)).toEqual(['ours']);
  // The same when they come while it is looked at.
  symlinkSync(path.join(elsewhere, name(1)), path.join(house.claudeDir, name(8)));
  execFileSync('mkfifo', [path.join(house.claudeDir, name(9))]);
  appendFileSync(path.join(house.claudeDir, name(7)), inbound(8, 'more of ours'));
  await expect.poll(async () => (await told()).map(({ text }) => text)).toEqual(['ours', 'more of ours']);
});

test('what was there before the first look is listed by its ends, and only what follows is told', async () => {
  const fresh = openTestTranscripts();
  try {
    const filler = JSON.stringify({ type: 'attachment', text: 'x'.repeat(100_000) });
    writeFileSync(fresh.claudeFile, `${inbound(1, 'The title')}${`${filler}\n`.repeat(20)}${lines.at(-6)}\n`);
    // The clock of files is a tick behind, which the service allows for.
    await expect.poll(() => Date.now() - statSync(fresh.claudeFile).birthtimeMs).toBeGreaterThan(50);
    const { told, sessions } = await fresh.follow();
    expect(await told()).toEqual([]);
    expect(await sessions()).toMatchObject([{ title: 'The title', model: 'claude-opus-5-5', events: 0, input_tokens: null }]);
    appendFileSync(fresh.claudeFile, inbound(2));
    await expect.poll(async () => (await told()).map(({ text }) => text)).toEqual(['word 2']);
  } finally {
    await fresh.close();
  }
});

test('SVC_TRANSCRIPTS=list lists sessions and stores nothing that was said; off does not look', async () => {
  writeFileSync(house.claudeFile, whole);
  const off = await house.follow({ SVC_TRANSCRIPTS: 'off' });
  expect(await off.sessions()).toEqual([]);
  await house.closeAll();
  const list = await house.follow({ SVC_TRANSCRIPTS: 'list' });
  expect(await list.sessions()).toMatchObject([{ conversation_key: key, events: 0, last_text: null }]);
  expect(await list.told()).toEqual([]);
});

test('what looks like a secret is not stored', async () => {
  const secret = `ghp_${'aB3dE5gH7jK9'.repeat(3)}`;
  writeFileSync(house.claudeFile, inbound(1, `my token is ${secret}`));
  const { told } = await house.follow({ SVC_INSIGHTS_CONTROL_TOKEN: 'a-token-of-control' });
  expect(JSON.stringify(await told())).toContain('[redacted:');
  expect(JSON.stringify(await told())).not.toContain(secret);
});

test('nor is it shown in a title, of a session of before either, and also where the title ends in the middle of it', async () => {
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

test('a collector that stops in the middle of many transcripts reads no more of them', async () => {
  const { systemClock } = await import('@svc/service-kit/clock.ts');
  const { watchTranscripts } = await import('../src/transcript/watch-transcripts.ts');
  const { transcriptRoots } = await import('../src/transcript/transcript-roots.ts');
  for (let n = 0; n < 20; n++) writeFileSync(house.claudeFile.replace(/^(.*-)[0-9a-f]{2}/, `$1${n + 10}`), whole);
  let read = 0;
  const watcher = watchTranscripts({
    roots: transcriptRoots({}, house.home),
    clock: systemClock,
    async read() {
      if (++read === 1) void watcher.close();
    },
    warn: () => undefined,
  });
  await watcher.start();
  expect(read).toBe(1);
});

/** The watcher by itself, with the looks at everything in the hands of the test. */
async function watchHome() {
  const { systemClock } = await import('@svc/service-kit/clock.ts');
  const { watchTranscripts } = await import('../src/transcript/watch-transcripts.ts');
  const { transcriptRoots } = await import('../src/transcript/transcript-roots.ts');
  const looks: { ms: number; run: () => void }[] = [];
  const timers: number[] = [];
  const read: string[] = [];
  const after = (ms: number, run: () => void) => {
    timers.push(ms);
    if (ms < 10_000) return systemClock.after(ms, run);
    looks.push({ ms, run });
    return () => undefined;
  };
  const watcher = watchTranscripts({
    roots: transcriptRoots({}, house.home),
    clock: { ...systemClock, after },
    read: async ({ file }) => void read.push(file),
    warn: () => undefined,
  });
  onTestFinished(() => watcher.close());
  await watcher.start();
  return {
    read,
    timers,
    /** In how many seconds everything is looked at again. */
    nextLook: () => (looks.at(-1)?.ms ?? 0) / 1000,
    async look() {
      const { length } = looks;
      looks.at(-1)?.run();
      await expect.poll(() => looks.length).toBe(length + 1);
    },
  };
}

test('while nobody writes, one timer is set: the look at everything, ten minutes later', async () => {
  writeFileSync(house.claudeFile, whole);
  expect((await watchHome()).timers).toEqual([600_000]);
});

const projects = () => path.dirname(house.claudeDir);
function makeProjects(count: number, usedAt: number): string[] {
  const dirs = Array.from({ length: count }, (_, i) => path.join(projects(), `-old-${i}`));
  for (const dir of dirs) {
    mkdirSync(dir);
    utimesSync(dir, usedAt / 1000, usedAt / 1000);
  }
  return dirs;
}

test('of more folders than can be watched those that are in use are', async () => {
  makeProjects(600, Date.now() - 60 * 24 * 3_600_000);
  // Last of all by its name, and none of the folders that were changed last.
  writeFileSync(house.claudeFile, inbound(1));
  utimesSync(house.claudeDir, 1, 1);
  const { read, nextLook } = await watchHome();
  expect(nextLook()).toBe(600);
  read.length = 0;
  appendFileSync(house.claudeFile, inbound(2));
  await expect.poll(() => read).toContain(house.claudeFile);
  const fresh = path.join(projects(), '-fresh');
  mkdirSync(fresh);
  const file = path.join(fresh, path.basename(house.claudeFile));
  await expect.poll(() => (writeFileSync(file, inbound(3)), read)).toContain(file);
});

test('while more folders are in use than can be watched everything is looked at each minute, and no longer than that', async () => {
  const dirs = makeProjects(600, Date.now());
  const { look, nextLook } = await watchHome();
  expect(nextLook()).toBe(60);
  for (const dir of dirs.slice(0, 300)) rmdirSync(dir);
  await look();
  expect(nextLook()).toBe(600);
});

test('a home of transcripts that was removed and made anew is followed again', async () => {
  writeFileSync(house.claudeFile, inbound(1));
  const { read, look } = await watchHome();
  rmSync(projects(), { recursive: true });
  mkdirSync(house.claudeDir, { recursive: true });
  await look();
  read.length = 0;
  writeFileSync(house.claudeFile, inbound(2));
  await expect.poll(() => read).toContain(house.claudeFile);
  const other = path.join(projects(), '-another');
  mkdirSync(other);
  const file = path.join(other, path.basename(house.claudeFile));
  writeFileSync(file, inbound(3));
  await expect.poll(() => read).toContain(file);
});

test('a collector that is killed while it reads goes on where it was: nothing is lost, nothing is told twice', async () => {
  const total = 6000;
  let written = 0;
  const write = (count: number) => {
    appendFileSync(house.claudeFile, Array.from({ length: count }, () => inbound(++written)).join(''));
  };
  const port = await freePort();
  const env = { HOME: house.home, SVC_TRANSCRIPTS: 'follow', SVC_CORE_PORT: '1' };
  for (let round = 0; round < 6; round++) {
    const child = await startCollectorProcess(house.dataDir, port, env);
    for (let i = 0; i < 10; i++) {
      write(total / 60);
      await sleep(20 + round * 13);
    }
    await killHard(child);
  }
  const { collector } = await house.follow();
  const rows = collector.context.db.raw
    .prepare('SELECT count(*) AS n, count(DISTINCT text) AS texts FROM event WHERE session = ?')
    .get(key);
  expect(rows).toEqual({ n: total, texts: total });
});
