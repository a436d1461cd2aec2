import { appendFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { Spool, toJsonArray, type SpoolBatch } from './spool.ts';
import { maxLineLength } from './to-event.ts';

const folders: TemporaryFolder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function openFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return path.join(folder.path, 'spool');
}

function openSpool(dir: string, limits?: { segmentBytes: number; totalBytes: number }) {
  const losses: { lines: number; why: string }[] = [];
  const spool = new Spool(dir, 'core', (lines, why) => losses.push({ lines, why }), limits);
  return { spool, losses };
}

const linesOf = (batch: SpoolBatch | null) => batch?.bytes.toString().split('\n').slice(0, -1);

function readAll(spool: Spool): string[] {
  const lines: string[] = [];
  for (let batch = spool.read(500); batch !== null; batch = spool.read(500)) {
    lines.push(...(linesOf(batch) ?? []));
    spool.acknowledge(batch);
  }
  return lines;
}

const files = (dir: string) => readdirSync(dir).sort();

test('lines of one turn of the event loop are in the file before it ends, without anyone asking', async () => {
  const dir = openFolder();
  const { spool } = openSpool(dir);
  spool.append('"a"');
  spool.append('"b"');
  await new Promise(setImmediate);
  expect(statSync(path.join(dir, 'core-00000001.jsonl')).size).toBe('"a"\n"b"\n'.length);
  expect(statSync(path.join(dir, 'core-00000001.jsonl')).mode & 0o777).toBe(0o600);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});

test('a folder that was removed is made again, and what lay in it is still handed over', () => {
  const dir = openFolder();
  const { spool } = openSpool(dir);
  spool.append('1');
  spool.flush();
  rmSync(dir, { recursive: true });
  spool.append('2');
  spool.flush();
  expect(files(dir)).toEqual(['core-00000002.jsonl']);
  expect(readAll(spool)).toEqual(['1', '2']);
});

test('a batch is read again until it is acknowledged, then the file is empty', () => {
  const dir = openFolder();
  const { spool } = openSpool(dir);
  for (const line of ['1', '2', '3']) spool.append(line);
  expect(linesOf(spool.read(2))).toEqual(['1', '2']);
  const batch = spool.read(2);
  expect(linesOf(batch)).toEqual(['1', '2']);
  if (batch !== null) spool.acknowledge(batch);
  expect(spool.unsent).toBe(1);
  expect(readAll(spool)).toEqual(['3']);
  expect(spool.unsent).toBe(0);
  expect(statSync(path.join(dir, 'core-00000001.jsonl')).size).toBe(0);
});

test('what arrives while a batch is on its way is kept', () => {
  const { spool } = openSpool(openFolder());
  spool.append('1');
  const batch = spool.read(500);
  spool.append('2');
  if (batch !== null) spool.acknowledge(batch);
  expect(readAll(spool)).toEqual(['2']);
});

test('the next process sends what was left first, and skips a torn last line', () => {
  const dir = openFolder();
  const first = openSpool(dir);
  first.spool.append('"old"');
  first.spool.flush();
  appendFileSync(path.join(dir, 'core-00000001.jsonl'), '"half a li');
  const { spool, losses } = openSpool(dir);
  spool.append('"new"');
  expect(spool.unsent).toBe(2);
  expect(readAll(spool)).toEqual(['"old"', '"new"']);
  expect(losses).toEqual([]);
  expect(files(dir)).toEqual(['core-00000002.jsonl']);
});

test('lines as long as they may be go out whole and in order, whatever lies between them', () => {
  const { spool, losses } = openSpool(openFolder());
  const long = '€'.repeat(maxLineLength - 2);
  const values = [1, long, 2, long, long, 3];
  for (const value of values) spool.append(JSON.stringify(value));
  const sent: unknown[] = [];
  for (let batch = spool.read(400); batch !== null; batch = spool.read(400)) {
    sent.push(...(JSON.parse(toJsonArray(batch).toString()) as unknown[]));
    spool.acknowledge(batch);
  }
  expect(sent.map((value) => (value === long ? 'long' : value))).toEqual([1, 'long', 2, 'long', 'long', 3]);
  expect(losses).toEqual([]);
});

test('files of another producer are left alone', () => {
  const dir = openFolder();
  openSpool(dir);
  writeFileSync(path.join(dir, 'core-2-00000001.jsonl'), '"theirs"\n');
  const { spool } = openSpool(dir);
  expect(spool.unsent).toBe(0);
  expect(files(dir)).toEqual(['core-2-00000001.jsonl']);
});

test('a full segment is followed by a new one and deleted once it was acknowledged', () => {
  const dir = openFolder();
  const { spool } = openSpool(dir, { segmentBytes: 10, totalBytes: 1000 });
  for (const line of ['"aaaaaaaa"', '"bbbbbbbb"', '"cccccccc"']) {
    spool.append(line);
    spool.flush();
  }
  expect(files(dir)).toHaveLength(3);
  expect(readAll(spool)).toEqual(['"aaaaaaaa"', '"bbbbbbbb"', '"cccccccc"']);
  expect(files(dir)).toHaveLength(1);
});

test('beyond the bound the oldest segment goes and is counted, even while it is on its way', () => {
  const dir = openFolder();
  const { spool, losses } = openSpool(dir, { segmentBytes: 20, totalBytes: 60 });
  spool.append('"first"');
  const batch = spool.read(500);
  for (let i = 0; i < 20; i++) {
    spool.append(`"line ${i}"`);
    spool.flush();
  }
  if (batch !== null) spool.acknowledge(batch);
  const left = readAll(spool);
  expect(left.at(-1)).toBe('"line 19"');
  expect(losses.reduce((sum, { lines }) => sum + lines, 0)).toBe(21 - left.length);
  expect(left.length).toBeGreaterThan(2);
  expect(left.length).toBeLessThan(8);
});

test('closing leaves no file behind when everything was acknowledged, and the unsent lines otherwise', () => {
  const dir = openFolder();
  const { spool } = openSpool(dir);
  spool.append('1');
  readAll(spool);
  spool.append('2');
  spool.close();
  const second = openSpool(dir).spool;
  expect(readAll(second)).toEqual(['2']);
  second.close();
  expect(files(dir)).toEqual([]);
});

test('a folder that cannot be made again costs the lines, and is reported without a throw', () => {
  const dir = openFolder();
  const { spool, losses } = openSpool(dir);
  rmSync(dir, { recursive: true });
  writeFileSync(dir, 'a file in its place');
  spool.append('1');
  spool.flush();
  expect(losses).toEqual([{ lines: 1, why: expect.stringContaining('EEXIST') as string }]);
});
