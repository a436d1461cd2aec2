import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createLogTail, listLogs, type LogTail } from './log-tail.ts';

let folder: TemporaryFolder;
let dir = '';
beforeEach(() => {
  folder = temporaryFolder();
  dir = folder.path;
});
afterEach(() => folder.remove());

const file = () => path.join(dir, 'core.log');
const raws = (tail: LogTail) => tail.read().map(({ raw }) => raw);

describe('log tail', () => {
  test('begins with the last lines of a large file', () => {
    writeFileSync(file(), Array.from({ length: 5000 }, (_, i) => `line ${i} ${'x'.repeat(50)}\n`).join(''));
    const lines = raws(createLogTail(dir, 'core', 3));
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['4997', '4998', '4999']);
  });

  test('continues with complete lines as they are written', () => {
    writeFileSync(file(), 'a\n');
    const tail = createLogTail(dir, 'core', 10);
    expect(raws(tail)).toEqual(['a']);
    appendFileSync(file(), 'b\nha');
    expect(raws(tail)).toEqual(['b']);
    appendFileSync(file(), 'lf\n');
    expect(raws(tail)).toEqual(['half']);
    expect(raws(tail)).toEqual([]);
  });

  test('continues after the file was rotated', () => {
    writeFileSync(file(), 'a\n');
    const tail = createLogTail(dir, 'core', 10);
    raws(tail);
    renameSync(file(), `${file()}.1`);
    writeFileSync(file(), 'new\n');
    expect(raws(tail)).toEqual(['new']);
  });

  test('includes lines written just before the file was rotated', () => {
    writeFileSync(file(), 'a\n');
    const tail = createLogTail(dir, 'core', 10);
    raws(tail);
    appendFileSync(file(), 'b\n');
    renameSync(file(), `${file()}.1`);
    writeFileSync(file(), 'c\n');
    expect(raws(tail)).toEqual(['b', 'c']);
  });

  test('waits for a log that does not exist yet', () => {
    const tail = createLogTail(dir, 'core', 10);
    expect(raws(tail)).toEqual([]);
    writeFileSync(file(), 'a\n');
    expect(raws(tail)).toEqual(['a']);
  });

  test('listLogs() omits rotated files', () => {
    writeFileSync(file(), '');
    writeFileSync(path.join(dir, 'core.log.1'), '');
    expect(listLogs(dir)).toEqual(['core']);
    expect(listLogs(path.join(dir, 'none'))).toEqual([]);
  });
});
