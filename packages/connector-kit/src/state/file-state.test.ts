import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  rmdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFileState } from './file-state.ts';

function openFolder() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'state.jsonl');
  const logs: string[] = [];
  return { file, logs, open: () => createFileState(file, (_level, message) => void logs.push(message)) };
}

test('changes survive a restart', async () => {
  const { open, file } = openFolder();
  const state = open();
  await state.set('offset', 7);
  await state.change({ a: { b: [1, 'ü'] }, offset: 8 });
  await state.delete('a');
  await state.append('seen', 'x');
  const again = open();
  expect(await again.get('offset')).toBe(8);
  expect(await again.get('a')).toBeUndefined();
  expect(await again.get('seen')).toEqual(['x']);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('names of Object.prototype are ordinary keys', async () => {
  const { open } = openFolder();
  await open().set('constructor', 1);
  await open().set('__proto__', 2);
  expect(await open().list('')).toEqual([
    { key: '__proto__', value: 2 },
    { key: 'constructor', value: 1 },
  ]);
  expect(await open().get('toString')).toBeUndefined();
});

test('calls see the changes made before them', async () => {
  const state = openFolder().open();
  const seen = [state.get('a'), state.set('a', 1), state.get('a'), state.set('a', 2), state.delete('a'), state.get('a')];
  expect(await Promise.all(seen)).toEqual([undefined, undefined, 1, undefined, undefined, undefined]);
});

test('a list keeps its newest items', async () => {
  const { open } = openFolder();
  const state = open();
  for (const item of [1, 2, 3, 4]) await state.append('seen', item, 3);
  expect(await open().get('seen')).toEqual([2, 3, 4]);
});

test('acknowledged changes survive a truncated file, and each change is atomic', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 12 }), fc.nat(), async (values, cutAt) => {
      const folder = temporaryFolder();
      const file = path.join(folder.path, 'state.jsonl');
      const sizes = [0];
      const state = createFileState(file, () => undefined);
      for (const value of values) {
        await state.change({ [`k${value % 3}`]: value, twin: value });
        sizes.push(statSync(file).size);
      }
      const cut = cutAt % (statSync(file).size + 1);
      truncateSync(file, cut);
      const safe = values.slice(0, sizes.filter((size) => size <= cut).length - 1);
      const expected = new Map<string, number>(
        safe.flatMap((value) => [[`k${value % 3}`, value] as const, ['twin', value] as const]),
      );
      const check = async () => {
        const found = await createFileState(file, () => undefined).list('');
        expect(new Map(found.map(({ key, value }) => [key, value]))).toEqual(expected);
      };
      await check();
      await createFileState(file, () => undefined).set('more', 1);
      expected.set('more', 1);
      await check();
      folder.remove();
    }),
    { numRuns: 60 },
  );
});

test('compacts a file that has grown, without changing its content', async () => {
  const { open, file } = openFolder();
  const state = open();
  const text = 'x'.repeat(50_000);
  for (let n = 0; n < 30; n++) await state.set('a', text + n);
  expect(statSync(file).size).toBeLessThan(500_000);
  expect(await open().get('a')).toBe(`${text}29`);
});

test('skips a damaged line, logs it, and keeps it in a copy', async () => {
  const { open, file, logs } = openFolder();
  await open().set('a', 1);
  appendFileSync(file, '{"set":{"b":\n{"set":5}\nnull\n');
  await open().set('c', 3);
  expect(await open().list('')).toEqual([
    { key: 'a', value: 1 },
    { key: 'c', value: 3 },
  ]);
  expect(logs[0]).toBe("a part of this connector's saved state could not be read and was skipped");
  expect(readFileSync(`${file}.damaged`, 'utf8')).toContain('{"set":5}');
});

test('a failed write changes nothing, and the next one succeeds', async () => {
  const { open, file } = openFolder();
  const state = open();
  mkdirSync(file);
  await expect(state.set('a', 1)).rejects.toMatchObject({ code: 'insufficient_storage' });
  expect(existsSync(`${file}.new`)).toBe(false);
  rmdirSync(file);
  await state.set('b', 2);
  expect(await state.list('')).toEqual([{ key: 'b', value: 2 }]);
});

test.each([
  ['an empty key', '', 1, 'bad_request'],
  ['a long key', 'k'.repeat(513), 1, 'bad_request'],
  ['half of a character as key', '\ud800', 1, 'bad_request'],
  ['half of a character as value', 'k', '\ud800', 'bad_request'],
  ['a value of nine megabytes', 'k', 'x'.repeat(9_000_000), 'too_large'],
])('rejects %s, and loses nothing', async (_what, key, value, code) => {
  const { open, file } = openFolder();
  const state = open();
  await state.set('kept', 1);
  await expect(state.set(key, value)).rejects.toMatchObject({ code });
  expect(await open().list('')).toEqual([{ key: 'kept', value: 1 }]);
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2);
});

test('stores the longest text that a message can have', async () => {
  const { open } = openFolder();
  const text = '\u0001'.repeat(1_000_000);
  await open().set('message', { text });
  expect(await open().get('message')).toEqual({ text });
});

test('rejects writes past 32 MiB, but allows deletion', async () => {
  const { open, file } = openFolder();
  const line = (n: number) => `${JSON.stringify({ set: { [`k${n}`]: JSON.stringify('x'.repeat(200_000)) } })}\n`;
  writeFileSync(file, Array.from({ length: 167 }, (_, n) => line(n)).join(''));
  const state = open();
  await expect(state.set('more', 'x'.repeat(200_000))).rejects.toMatchObject({ code: 'too_large' });
  await state.delete('k0');
  await state.set('more', 'x'.repeat(200_000));
});

describe('file state after an hour', () => {
  const hourMs = 60 * 60_000;
  const openTimed = () => {
    const { file, logs } = openFolder();
    const clock = createFakeClock();
    const log = (_level: string, message: string) => void logs.push(message);
    return { file, logs, clock, open: () => createFileState(file, log, clock) };
  };
  const text = (file: string) => readFileSync(file, 'utf8');

  test('removes deleted, replaced and dropped values from the file', async () => {
    const { file, clock, open } = openTimed();
    const state = open();
    await state.set('open/1', 'deleted words');
    await state.set('offset', 'replaced words');
    for (const item of ['fallen words', 'kept words']) await state.append('seen', item, 1);
    await state.change({ 'open/1': undefined, offset: 'new words' });
    clock.advance(hourMs - 1);
    await state.get('offset');
    expect(text(file)).toContain('deleted words');
    clock.advance(1);
    expect(await state.get('offset')).toBe('new words');
    expect(text(file)).not.toMatch(/deleted words|replaced words|fallen words/);
    expect(await open().list('')).toEqual([
      { key: 'offset', value: 'new words' },
      { key: 'seen', value: ['kept words'] },
    ]);
    await state.set('a', 'later words');
    await state.delete('a');
    clock.advance(hourMs);
    await state.get('a');
    expect(text(file)).not.toContain('later words');
  });

  test('removes what an earlier process left, and does not rewrite a clean file', async () => {
    const { file, clock, open } = openTimed();
    const earlier = createFileState(file, () => undefined, createFakeClock());
    await earlier.set('a', 'old words');
    await earlier.delete('a');
    const state = open();
    await state.get('a');
    clock.advance(hourMs);
    await state.get('a');
    expect(text(file)).not.toContain('old words');
    const { mtimeNs, ino } = statSync(file, { bigint: true });
    clock.advance(5 * hourMs);
    await state.get('a');
    expect(statSync(file, { bigint: true })).toMatchObject({ mtimeNs, ino });
  });

  test('logs a failed rewrite, loses nothing, and tries again', async () => {
    const { file, clock, open, logs } = openTimed();
    const state = open();
    await state.set('a', 'kept words');
    await state.set('b', 'old words');
    await state.delete('b');
    mkdirSync(path.join(`${file}.new`, 'x'), { recursive: true });
    clock.advance(hourMs);
    expect(await state.get('a')).toBe('kept words');
    await expect.poll(() => logs).toContainEqual(expect.stringContaining('still in its file'));
    rmSync(`${file}.new`, { recursive: true });
    await state.set('c', 1);
    clock.advance(hourMs);
    expect(await state.get('a')).toBe('kept words');
    expect(text(file)).not.toContain('old words');
  });
});
