import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createLinkIntake } from './link-lines.ts';

const limits = { lineBytes: 1000, freeBytes: 10, comingBytes: 200, paceMs: 10_000, paceBytes: 100 };

function open() {
  const clock = createFakeClock();
  const intake = createLinkIntake(clock, limits);
  const link = () => {
    const lines: string[] = [];
    const refusals: string[] = [];
    const reader = intake.open({
      onLine: (line) => lines.push(line),
      onLongLine: async (line) => {
        await nextTurn();
        lines.push(line.toString());
      },
      onRefused: ({ code }) => refusals.push(code),
    });
    const push = (text: string) => void reader.push(Buffer.from(text));
    return { lines, refusals, push, pushBytes: reader.push, close: reader.close };
  };
  return { clock, link, held: intake.held };
}

test('lines are reassembled however they are split, and nothing is held afterwards', async () => {
  const rule = fc.asyncProperty(
    fc.array(
      fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\n', ' ')),
      { maxLength: 10 },
    ),
    fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
    async (texts, cuts) => {
      const { link, held } = open();
      const { lines, pushBytes } = link();
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
      for (let at = 0, n = 0; at < bytes.length; n++) {
        const to = at + (cuts[n % cuts.length] ?? 1);
        await pushBytes(bytes.subarray(at, to));
        at = to;
      }
      expect(lines).toEqual(texts.filter((text) => text !== ''));
      expect(held()).toBe(0);
    },
  );
  await fc.assert(rule, { numRuns: 100 });
});

test('lines that arrive together are read in several turns of the event loop, without loss', async () => {
  const lines: number[] = [];
  let turns = 0;
  let timer = setImmediate(function count() {
    turns++;
    timer = setImmediate(count);
  });
  onTestFinished(() => clearImmediate(timer));
  const busyLine = (line: string) => {
    const until = performance.now() + 5;
    while (performance.now() < until);
    lines.push(Number(line));
  };
  const reader = createLinkIntake(createFakeClock()).open({
    onLine: busyLine,
    onLongLine: () => Promise.resolve(),
    onRefused: () => undefined,
  });
  await reader.push(Buffer.from('1\n2\n3\n4\n'));
  expect(lines).toEqual([1, 2, 3, 4]);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test('rejects a line of too many parts before it is complete', () => {
  const refusals: string[] = [];
  const lines: string[] = [];
  const reader = createLinkIntake(createFakeClock()).open({
    onLine: (line) => lines.push(line),
    onLongLine: () => Promise.resolve(),
    onRefused: ({ code }) => refusals.push(code),
  });
  void reader.push(Buffer.from(`{"a":[${'{},'.repeat(50_000)}`));
  void reader.push(Buffer.from('{}]}\n'));
  expect([refusals, lines]).toEqual([['too_large'], []]);
});

test('a long line is handled before later lines of its link, and counts as held until then', async () => {
  const { link, held } = open();
  const { lines, pushBytes } = link();
  const pushed = pushBytes(Buffer.from(`${'x'.repeat(50)}\n2\n`));
  expect([lines, held()]).toEqual([[], 50]);
  await pushed;
  expect([lines, held()]).toEqual([['x'.repeat(50), '2'], 0]);
});

test('when long lines exceed the shared limit, the one that began last is rejected', async () => {
  const { link, held } = open();
  const [first, second, third] = [link(), link(), link()];
  first.push('x'.repeat(80));
  second.push('x'.repeat(80));
  third.push('x'.repeat(80));
  expect([first, second, third].map(({ refusals }) => refusals)).toEqual([[], [], ['queue_full']]);
  first.push('x'.repeat(50));
  expect([first.refusals, second.refusals]).toEqual([[], ['queue_full']]);
  await first.pushBytes(Buffer.from('\n'));
  expect([first.lines.length, held()]).toEqual([1, 0]);
});

test('a single line is limited only by its own maximum', () => {
  const { link, held } = open();
  const one = link();
  one.push('x'.repeat(199));
  one.push('x'.repeat(900));
  expect([one.refusals, held()]).toEqual([['too_large'], 0]);
});

test('short lines are never rejected', () => {
  const { link } = open();
  const large = link();
  large.push('x'.repeat(190));
  const small = Array.from({ length: 100 }, link);
  for (const { push } of small) push('0123456789');
  for (const { push } of small) push('\n');
  expect(small.every(({ lines, refusals }) => lines.length === 1 && refusals.length === 0)).toBe(true);
});

test('a long line that stalls is rejected and its bytes are released', () => {
  const { clock, link, held } = open();
  const [slow, steady] = [link(), link()];
  slow.push('x'.repeat(20));
  steady.push('x'.repeat(20));
  for (let span = 0; span < 2; span++) {
    steady.push('y'.repeat(60));
    steady.push('y'.repeat(60 * span));
    slow.push('y');
    clock.advance(limits.paceMs);
  }
  expect(slow.refusals).toEqual(['unavailable']);
  slow.close();
  steady.close();
  expect(held()).toBe(0);
});

test('a closed link releases its bytes and is not rejected later', () => {
  const { link, held } = open();
  const [gone, here] = [link(), link()];
  gone.push('x'.repeat(150));
  gone.close();
  here.push('x'.repeat(150));
  expect([gone.refusals, here.refusals, held()]).toEqual([[], [], 150]);
});
