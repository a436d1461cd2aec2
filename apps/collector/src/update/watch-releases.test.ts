import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readUpdateCheck } from '@svc/service-kit/update/update-files.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { changeUpdateSettings } from '@svc/service-kit/update/update-settings.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { watchReleases } from './watch-releases.ts';

let folder: TemporaryFolder;
let started = 0;
let repaired = 0;
let warnings: string[] = [];
const minute = 60_000;
const quarter = 15 * minute;

beforeEach(() => {
  folder = temporaryFolder();
  started = 0;
  repaired = 0;
  warnings = [];
  mkdirSync(path.join(folder.path, '.git'));
});
afterEach(() => folder.remove());

/** A clone whose `svc` prints this and records its calls. */
function watch(prints: string, updateManaged: string | null = null) {
  const svc = path.join(folder.path, 'svc');
  writeFileSync(svc, `#!/bin/sh\nprintf '%s\\n' "$*" >>'${folder.path}/calls'\nprintf '%s\\n' '${prints}'\n`);
  chmodSync(svc, 0o755);
  const clock = createFakeClock();
  const watching = watchReleases({
    settings: { root: folder.path, dataDir: folder.path, updateManaged, updateArchives: null },
    env: { PATH: process.env['PATH'] },
    clock,
    log: { info: () => undefined, warn: (_facts: object, text: string) => void warnings.push(text) } as never,
    start: async ({ repair = false }) => {
      started += 1;
      repaired += Number(repair);
    },
  });
  return { clock, watching };
}

const calls = (): string[] =>
  existsSync(path.join(folder.path, 'calls')) ? readFileSync(path.join(folder.path, 'calls'), 'utf8').trim().split('\n') : [];
const found = '{"code":0,"words":"There is one.","to":{"name":"v2.0.0","commit":"abc"}}';
const checked = () => expect.poll(() => readUpdateCheck(folder.path), { timeout: 5000 }).not.toBeNull();

test('checks every 15 minutes, records the result, and installs nothing unless enabled', async () => {
  const { clock, watching } = watch(found);
  expect(calls()).toEqual([]);
  clock.advance(quarter);
  await checked();
  expect(calls()).toEqual(['update --check --json']);
  expect(readUpdateCheck(folder.path)).toMatchObject({ code: 0, to: { name: 'v2.0.0', commit: 'abc' } });
  expect(started).toBe(0);
  watching.close();
  clock.advance(quarter);
  expect(calls()).toHaveLength(1);
});

test('installs a new version when enabled, except one that was rolled back', async () => {
  changeUpdateSettings(folder.path, { auto: true });
  const { clock } = watch(found);
  clock.advance(quarter);
  await expect.poll(() => started, { timeout: 5000 }).toBe(1);
  const { folder: updates, last } = updatePlaces(folder.path);
  mkdirSync(updates, { recursive: true });
  writeFileSync(last, JSON.stringify({ refused: 'abc' }));
  clock.advance(quarter);
  await expect.poll(() => readUpdateCheck(folder.path)?.checked_at, { timeout: 5000 }).toBe(clock.now());
  expect(started).toBe(1);
});

test('does not retry a version that needs manual steps, but installs the next one', async () => {
  changeUpdateSettings(folder.path, { auto: true });
  const { clock } = watch(found);
  const { folder: updates, last } = updatePlaces(folder.path);
  mkdirSync(updates, { recursive: true });
  writeFileSync(last, JSON.stringify({ refused: null, held: 'abc' }));
  clock.advance(quarter);
  await checked();
  expect(started).toBe(0);
  writeFileSync(last, JSON.stringify({ refused: null, held: 'the one before' }));
  clock.advance(quarter);
  await expect.poll(() => started, { timeout: 5000 }).toBe(1);
});

test('records a published version that is not valid as rejected', async () => {
  changeUpdateSettings(folder.path, { auto: true });
  const { clock } = watch('{"code":3,"words":"It is not signed.","isRefused":true}');
  clock.advance(quarter);
  await checked();
  expect(readUpdateCheck(folder.path)).toMatchObject({ code: 3, refused: true });
  expect(started).toBe(0);
});

test('checks nothing when something else manages updates', () => {
  const { clock } = watch(found, 'apt');
  clock.advance(quarter);
  expect(calls()).toEqual([]);
});

test('logs an invalid answer as a warning and records nothing', async () => {
  const { clock } = watch('what?');
  clock.advance(quarter);
  await expect.poll(() => warnings, { timeout: 5000 }).toEqual(['checking for updates failed']);
  expect(readUpdateCheck(folder.path)).toBeNull();
});

test('repairs an interrupted update before checking for new ones', async () => {
  const { clock } = watch(found);
  const { folder: place, journal } = updatePlaces(folder.path);
  mkdirSync(place, { recursive: true });
  const [from, to] = [
    { name: '1', commit: 'a' },
    { name: '2', commit: 'b' },
  ];
  writeFileSync(journal, JSON.stringify({ phase: 'trying', startedAt: 1, from, to, pid: 2 ** 22 + 1, born: null }));
  clock.advance(minute);
  await expect.poll(() => repaired).toBe(1);
  clock.advance(quarter - minute);
  await expect.poll(() => repaired).toBe(2);
  expect(calls()).toEqual([]);
  rmSync(journal);
  await new Promise(setImmediate);
  clock.advance(quarter);
  await checked();
  expect([repaired, started]).toEqual([2, 2]);
});
