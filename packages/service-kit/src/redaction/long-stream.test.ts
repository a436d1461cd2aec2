import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { hostileTexts } from '@svc/testing/hostile-texts.ts';
import { tableOf } from './detection.ts';
import { createLongStream, type LongStream } from './long-stream.ts';
import { createMaskThread, type ThreadStream } from './mask-thread.ts';
import { createRedactor } from './redactor.ts';

const value = 'zq9-known-secret-77';
const redactor = createRedactor([value]);
const known = { edition: redactor.edition, values: new Set([value]), linkHosts: [] };
const parts = [...hostileTexts(tableOf('public').rules).map(({ of }) => of(60)), value, value.slice(0, 9), btoa(value)];

function openThread() {
  const clock = createFakeClock();
  const thread = createMaskThread(clock);
  onTestFinished(() => thread.close());
  return { thread, clock };
}

async function pushAll(stream: LongStream, text: string, size: number): Promise<string[]> {
  const out: string[] = [];
  for (let at = 0; at < text.length; at += size) out.push(await stream.push(text.slice(at, at + size)));
  return [...out, await stream.end()];
}

const texts = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 30 }).map((some) => some.join(''));
const sizes = fc.integer({ min: 1, max: 200 });

test('gives the same result wherever a stream moves to the thread', { timeout: 120_000 }, async () => {
  const { thread } = openThread();
  await fc.assert(
    fc.asyncProperty(texts, sizes, fc.integer({ min: 0, max: 2000 }), async (text, size, moveAt) => {
      const offloadStream = (length: number) => (length > moveAt ? thread.stream('private', known) : null);
      const out = await pushAll(createLongStream({ stream: redactor.stream, offloadStream }), text, size);
      expect(out.join('')).toBe(redactor.text(text));
    }),
    { numRuns: 100 },
  );
});

test('continues here a stream that the thread has lost', { timeout: 120_000 }, async () => {
  const { thread } = openThread();
  await fc.assert(
    fc.asyncProperty(texts, sizes, fc.integer({ min: 0, max: 10 }), async (text, size, answers) => {
      let left = answers;
      const until = (asked: Promise<string | null>) => (left-- > 0 ? asked : Promise.resolve(null));
      const offloadStream = (): ThreadStream => {
        const stream = thread.stream('private', known);
        return { push: (piece) => until(stream.push(piece)), end: () => until(stream.end()) };
      };
      const out = await pushAll(createLongStream({ stream: redactor.stream, offloadStream }), text, size);
      expect(out.join('')).toBe(redactor.text(text));
    }),
    { numRuns: 100 },
  );
});

test('ignores a thread whose output contradicts what was already sent', async () => {
  const offloadStream = (length: number): ThreadStream | null =>
    length > 30 ? { push: async () => 'something else entirely', end: async () => '' } : null;
  const text = 'plain words and more plain words and more';
  const out = await pushAll(createLongStream({ stream: redactor.stream, offloadStream }), text, 10);
  expect(out.join('')).toBe(text);
});

test('a stream does not continue in a new thread', async () => {
  const { thread, clock } = openThread();
  const stream = thread.stream('private', known);
  expect(await stream.push('one ')).toBe('one ');
  clock.advance(60_000);
  expect(thread.isRunning()).toBe(false);
  expect(await thread.mask('private', value, known)).toBe('[redacted:secret]');
  expect(await stream.push('two ')).toBeNull();
});

test('drops the least recently used of many open streams', async () => {
  const { thread } = openThread();
  const streams = Array.from({ length: 70 }, () => thread.stream('private', known));
  for (const stream of streams) expect(await stream.push('word ')).toBe('word ');
  expect(await streams[0]!.push('word ')).toBeNull();
  expect(await streams[69]!.push('word ')).toBe('word ');
});

test('masks a short, cheap piece synchronously', () => {
  expect(createLongStream(redactor).push('hello there, ')).toBe('hello there, ');
});

test('masks a long piece in slices, and moves to the thread when it is costly', async () => {
  const { thread } = openThread();
  const offloadStream = (_length: number, spentMs: number) => (spentMs > 0 ? thread.stream('private', known) : null);
  const text = `${'key=value '.repeat(30_000)}${value}`;
  const stream = createLongStream({ stream: redactor.stream, offloadStream });
  expect((await stream.push(text)) + (await stream.end())).toBe(redactor.text(text));
});
