import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { startInLine } from './start-line.ts';

/** Starts that finish when the test says so. */
function playStarts(atOnce: number) {
  const clock = createFakeClock();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = async (name: string) => {
    begun.push(name);
    return { done: new Promise<void>((resolve) => ends.set(name, resolve)) };
  };
  const line = startInLine(['a', 'b', 'c', 'd'], start, { clock, atOnce });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { clock, begun, ends, line, settle };
}

test('the next start begins when an earlier one has finished', async () => {
  const { begun, ends, line, settle } = playStarts(1);
  await settle();
  expect(begun).toEqual(['a']);
  for (const name of ['a', 'b', 'c']) {
    ends.get(name)?.();
    await settle();
  }
  await line;
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('a slow start delays the others for at most a quarter of a second', async () => {
  const { clock, begun, line, settle } = playStarts(2);
  await settle();
  expect(begun).toEqual(['a', 'b']);
  clock.advance(249);
  await settle();
  expect(begun).toEqual(['a', 'b']);
  clock.advance(1);
  await line;
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});
