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

test("writes lines at the end of the event loop's turn", async () => {
  const dir = openFolder();
  const { spool } = openSpool(dir);
  spool.append('"a"');
  spool.append('"b"');
  await new Promise(setImmediate);
  expect(statSync(path.join(dir, 'core-00000001.jsonl')).size).toBe('"a"\n"b"\n'.length);
  expect(statSync(path.join(dir, 'core-00000001.jsonl')).mode & 0o777).toBe(0o600);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});

test('recreates a folder that was removed, and still sends its lines', () => {
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

test('reads a batch again until it is acknowledged, then empties the file', () => {
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

test('keeps lines that arrive while a batch is sent', () => {
  const { spool } = openSpool(openFolder());
  spool.append('1');
  const batch = spool.read(500);
  spool.append('2');
  if (batch !== null) spool.acknowledge(batch);
  expect(readAll(spool)).toEqual(['2']);
});

test('a new process sends the remaining lines first, and skips a torn last line', () => {
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

test('sends lines of the maximum length unchanged and in order', () => {
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

test('ignores files of another producer', () => {
  const dir = openFolder();
  openSpool(dir);
  writeFileSync(path.join(dir, 'core-2-00000001.jsonl'), '"theirs"\n');
  const { spool } = openSpool(dir);
  expect(spool.unsent).toBe(0);
  expect(files(dir)).toEqual(['core-2-00000001.jsonl']);
});

test('starts a new segment when one is full, and deletes acknowledged ones', () => {
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

test('drops and counts the oldest segment over the limit, even while it is being sent', () => {
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

test('close() leaves no file without unsent lines', () => {
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

test('reports lines lost to a folder that cannot be recreated, without throwing', () => {
  const dir = openFolder();
  const { spool, losses } = openSpool(dir);
  rmSync(dir, { recursive: true });
  writeFileSync(dir, 'a file in its place');
  spool.append('1');
  spool.flush();
  expect(losses).toEqual([{ lines: 1, why: expect.stringContaining('EEXIST') as string }]);
});
