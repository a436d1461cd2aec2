import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  createWriteStream,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { inbound, claudeId, openTestTranscripts, transcriptLines, type TestTranscripts } from './open-test-transcripts.ts';
import { openTestCollector } from './open-test-collector.ts';
import { freePort } from '@svc/testing/free-ports.ts';
import { killHard } from '@svc/testing/kill-hard.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { startCollectorProcess } from './processes.ts';

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

test('waits for the rest of an incomplete line', async () => {
  const { stored } = await house.follow();
  const cut = whole.indexOf('Tool said') + 3;
  writeFileSync(house.claudeFile, whole.slice(0, cut));
  await expect.poll(async () => kindsOf(await stored())).toEqual(kinds.slice(0, 3));
  appendFileSync(house.claudeFile, whole.slice(cut));
  await expect.poll(async () => kindsOf(await stored())).toEqual(kinds);
});

test('skips only the line that was never completed', async () => {
  writeFileSync(house.claudeFile, `${inbound(1)}{"type":"user","uuid":"u2","mess\n${inbound(3)}`);
  const { stored } = await house.follow();
  expect((await stored()).map(({ text }) => text)).toEqual(['word 1', 'word 3']);
});

test('reads a truncated or replaced transcript again, and stores nothing twice', async () => {
  writeFileSync(house.claudeFile, inbound(1) + inbound(2));
  const { stored } = await house.follow();
  const texts = async () => (await stored()).map(({ text }) => text);
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

test('skips a line of 100 MB in bounded memory, and stores what follows it', async () => {
  const file = createWriteStream(house.claudeFile);
  file.write(inbound(1));
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  for (let i = 0; i < 100; i++) if (!file.write(megabyte)) await once(file, 'drain');
  file.end(`\n${inbound(2)}`);
  await once(file, 'close');
  const before = process.memoryUsage().rss;
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss - before)), 5);
  const { stored } = await house.follow();
  clearInterval(watch);
  expect((await stored()).map(({ text }) => text)).toEqual(['word 1', 'word 2']);
  expect(peak).toBeLessThan(64 * 1024 * 1024);
});

test('stores later what could not be stored at first', async () => {
  const { collector, stored } = await house.follow();
  const { db, commitQueue } = collector.context;
  db.raw.exec("CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  writeFileSync(house.claudeFile, whole);
  await expect.poll(() => commitQueue.lastError).toContain('disk full');
  const degraded = async () => (await collector.read<{ degraded: string[] }>('/health')).degraded;
  await expect.poll(degraded).toContainEqual(expect.stringMatching(/^Transcripts cannot be read \(1\)/));
  db.raw.exec('DROP TRIGGER full');
  await expect.poll(async () => kindsOf(await stored())).toEqual(kinds);
  await expect.poll(degraded).toEqual([]);
});

test('follows transcripts even if nothing could be stored at the start', async () => {
  const fresh = openTestTranscripts();
  onTestFinished(() => fresh.close());
  const before = openTestCollector({ SVC_DATA_DIR: fresh.dataDir });
  before.context.db.raw.exec("CREATE TRIGGER full BEFORE INSERT ON fact BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  await before.close();
  const { stored, collector } = await fresh.follow();
  collector.context.db.raw.exec('DROP TRIGGER full');
  // The time of the first look is not known until now, so this file counts as old.
  writeFileSync(fresh.claudeFile, inbound(1));
  await expect.poll(() => collector.context.db.raw.prepare('SELECT count(*) AS n FROM transcript').get()).toEqual({ n: 1 });
  appendFileSync(fresh.claudeFile, inbound(2));
  await expect.poll(async () => (await stored()).at(-1)?.text).toBe('word 2');
});

test('does not read links, pipes, folders, files with other names or files of other users', async () => {
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
  const { stored } = await house.follow();
  expect((await stored()).map(({ text }) => text)).toEqual(['ours']);
  // The same for files that appear while it watches.
  symlinkSync(path.join(elsewhere, name(1)), path.join(house.claudeDir, name(8)));
  execFileSync('mkfifo', [path.join(house.claudeDir, name(9))]);
  appendFileSync(path.join(house.claudeDir, name(7)), inbound(8, 'more of ours'));
  await expect.poll(async () => (await stored()).map(({ text }) => text)).toEqual(['ours', 'more of ours']);
});

test('stops reading transcripts when the collector stops', async () => {
  const { systemClock } = await import('@svc/service-kit/clock.ts');
  const { watchTranscripts } = await import('../src/transcript/watch-transcripts.ts');
  const { transcriptRoots } = await import('@svc/service-kit/transcript/transcript-roots.ts');
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

test('a collector killed while it reads resumes where it was, without losing or repeating an event', async () => {
  const rounds = usualOrDeep([0, 2, 5], [0, 1, 2, 3, 4, 5]);
  const total = rounds.length * 1000;
  let written = 0;
  const write = (count: number) => {
    appendFileSync(house.claudeFile, Array.from({ length: count }, () => inbound(++written)).join(''));
  };
  const port = await freePort();
  const env = { HOME: house.home, SVC_TRANSCRIPTS: 'follow', SVC_CORE_PORT: '1' };
  for (const round of rounds) {
    const child = await startCollectorProcess(house.dataDir, port, env);
    for (let i = 0; i < 10; i++) {
      write(100);
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
