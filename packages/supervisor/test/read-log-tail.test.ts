import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLogFile, readLogTail } from '../src/log-file.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

it('gives back the lines that were written, as they were', () => {
  const log = createLogFile({ dir: folder.path, name: 'a' });
  const lines = [
    { at: 1, stream: 'stderr', text: 'plain' },
    { at: 2, stream: 'stdout', text: '{"level":"info","time":2,"msg":"said"}' },
    { at: 3, stream: 'stdout', text: '{no JSON' },
  ] as const;
  for (const line of lines) log.write(line);
  log.close();
  expect(readLogTail(log.file)).toEqual(lines);
});

it('gives the last 500 of many, and none in part', () => {
  const log = createLogFile({ dir: folder.path, name: 'a' });
  for (let i = 0; i < 20_000; i++) log.write({ at: i, stream: 'stdout', text: `line ${i} ${'x'.repeat(i % 900)}` });
  log.close();
  const tail = readLogTail(log.file);
  expect([tail.length, tail[0]?.text.split(' ')[1], tail.at(-1)?.at]).toEqual([500, '19500', 19_999]);
});

it('gives a line that was cut off as it stands, and nothing where there is no file', () => {
  const file = path.join(folder.path, 'b.log');
  expect(readLogTail(file)).toEqual([]);
  appendFileSync(file, '{"level":"in');
  expect(readLogTail(file)).toEqual([{ at: 0, stream: 'stdout', text: '{"level":"in' }]);
});
