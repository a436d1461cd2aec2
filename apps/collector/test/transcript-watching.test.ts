import { appendFileSync, mkdirSync, rmdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { inbound, openTestTranscripts, transcriptLines, type TestTranscripts } from './open-test-transcripts.ts';

let house: TestTranscripts;
beforeEach(async () => {
  house = openTestTranscripts();
  await house.begin();
});
afterEach(() => house.close());

const lines = transcriptLines('claude');
const whole = `${lines.join('\n')}\n`;

/** The watcher alone; the test triggers its full scans. */
async function watchHome() {
  const { systemClock } = await import('@svc/service-kit/clock.ts');
  const { watchTranscripts } = await import('../src/transcript/watch-transcripts.ts');
  const { transcriptRoots } = await import('@svc/service-kit/transcript/transcript-roots.ts');
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
    /** Seconds until the next full scan. */
    nextLook: () => (looks.at(-1)?.ms ?? 0) / 1000,
    async look() {
      const { length } = looks;
      looks.at(-1)?.run();
      await expect.poll(() => looks.length).toBe(length + 1);
    },
  };
}

test('while nothing changes, the only timer is the full scan in ten minutes', async () => {
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

test('watches the folders in use when there are more folders than can be watched', async () => {
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

test('scans everything each minute only while more folders are in use than can be watched', async () => {
  const dirs = makeProjects(600, Date.now());
  const { look, nextLook } = await watchHome();
  expect(nextLook()).toBe(60);
  for (const dir of dirs.slice(0, 300)) rmdirSync(dir);
  await look();
  expect(nextLook()).toBe(600);
});

test('follows a folder of transcripts again that was removed and created again', async () => {
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
