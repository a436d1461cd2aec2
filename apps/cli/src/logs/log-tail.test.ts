import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogTail, listLogs, type LogTail } from './log-tail.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'log-tail-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const file = () => path.join(dir, 'core.log');
const raws = (tail: LogTail) => tail.read().map(({ raw }) => raw);

describe('the tail of a log', () => {
  it('begins with the last lines, over any size', () => {
    writeFileSync(file(), Array.from({ length: 5000 }, (_, i) => `line ${i} ${'x'.repeat(50)}\n`).join(''));
    const lines = raws(createLogTail(dir, 'core', 3));
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['4997', '4998', '4999']);
  });

  it('goes on with what is written, whole lines only', () => {
    writeFileSync(file(), 'a\n');
    const tail = createLogTail(dir, 'core', 10);
    expect(raws(tail)).toEqual(['a']);
    appendFileSync(file(), 'b\nha');
    expect(raws(tail)).toEqual(['b']);
    appendFileSync(file(), 'lf\n');
    expect(raws(tail)).toEqual(['half']);
    expect(raws(tail)).toEqual([]);
  });

  it('goes on when the file is begun anew', () => {
    writeFileSync(file(), 'a\n');
    const tail = createLogTail(dir, 'core', 10);
    raws(tail);
    renameSync(file(), `${file()}.1`);
    writeFileSync(file(), 'new\n');
    expect(raws(tail)).toEqual(['new']);
  });

  it('misses nothing that was written right before the file is begun anew', () => {
    writeFileSync(file(), 'a\n');
    const tail = createLogTail(dir, 'core', 10);
    raws(tail);
    appendFileSync(file(), 'b\n');
    renameSync(file(), `${file()}.1`);
    writeFileSync(file(), 'c\n');
    expect(raws(tail)).toEqual(['b', 'c']);
  });

  it('waits for a log that is not there yet', () => {
    const tail = createLogTail(dir, 'core', 10);
    expect(raws(tail)).toEqual([]);
    writeFileSync(file(), 'a\n');
    expect(raws(tail)).toEqual(['a']);
  });

  it('lists logs, not the older files', () => {
    writeFileSync(file(), '');
    writeFileSync(path.join(dir, 'core.log.1'), '');
    expect(listLogs(dir)).toEqual(['core']);
    expect(listLogs(path.join(dir, 'none'))).toEqual([]);
  });
});
