import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { coreShare, parseUsage, readAllMemory, readUsage, readUsageOfProc } from './process-usage.ts';

test('reads memory regardless of the page size, and CPU times regardless of the name', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const dir = path.join(folder.path, '7');
  mkdirSync(dir);
  const numbers = Array.from({ length: 40 }, (_, i) => i);
  numbers[10] = 150; // user time
  numbers[11] = 50; // system time
  numbers[20] = 100; // pages, of 16 KiB here
  writeFileSync(path.join(dir, 'stat'), `7 (a ) name) S ${numbers.join(' ')}`);
  writeFileSync(path.join(dir, 'status'), 'Name:\ta ) name\nVmHWM:\t    9999 kB\nVmRSS:\t    1600 kB\n');
  expect(await readUsageOfProc(7, folder.path)).toEqual({ cpuMs: 2000, memoryBytes: 1_638_400 });
});

test.each([
  ['1600 00:01', { memoryBytes: 1_638_400, cpuMs: 1_000 }],
  ['1 0:00.25', { memoryBytes: 1024, cpuMs: 250 }],
  ['1  1-02:03:04', { memoryBytes: 1024, cpuMs: 93_784_000 }],
  ['', null],
  ['- -', null],
])('parses the usage that ps writes as %j', (line, usage) => {
  expect(parseUsage(line)).toEqual(usage);
});

test('reads the usage of this process, and null for one that does not exist', async () => {
  expect((await readUsage(process.pid))?.memoryBytes).toBeGreaterThan(10_000_000);
  expect(await readUsage(2 ** 30)).toBeNull();
  const own = (await readAllMemory()).find(({ pid }) => pid === process.pid);
  expect(own).toMatchObject({ parent: process.ppid });
  expect(own?.memoryBytes).toBeGreaterThan(10_000_000);
});

test('coreShare() is the share of a core between two readings', () => {
  expect(coreShare(null, { at: 5, cpuMs: 100 })).toBe(0);
  expect(coreShare({ at: 0, cpuMs: 500 }, { at: 10_000, cpuMs: 3000 })).toBe(25);
  expect(coreShare({ at: 5, cpuMs: 0 }, { at: 5, cpuMs: 100 })).toBe(0);
  expect(coreShare({ at: 0, cpuMs: 100 }, { at: 10, cpuMs: 0 })).toBe(0);
});
