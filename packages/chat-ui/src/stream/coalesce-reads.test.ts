import { expect, test } from 'vitest';
import { coalesceReads } from './coalesce-reads.ts';

/** A value that changes, whose reads end when the test resolves them. */
function place() {
  const reads: PromiseWithResolvers<void>[] = [];
  const seen: number[] = [];
  let now = 0;
  const read = coalesceReads(async () => {
    const found = now;
    const ended = Promise.withResolvers<void>();
    reads.push(ended);
    await ended.promise;
    seen.push(found);
  });
  return { read, reads, seen, change: () => (now += 1) };
}

test('calls during a read share one further read after it', async () => {
  const { read, reads, seen, change } = place();
  const first = read();
  change();
  const others = [read(), read()];
  expect(reads).toHaveLength(1);
  reads[0]?.resolve();
  await expect.poll(() => reads.length).toBe(2);
  reads[1]?.resolve();
  await Promise.all([first, ...others]);
  expect(seen).toEqual([0, 1]);
});

test('a failed read rejects, and the next call reads again', async () => {
  const { read, reads, seen } = place();
  const failed = read();
  reads[0]?.reject(new Error('away'));
  await expect(failed).rejects.toThrow('away');
  const next = read();
  reads[1]?.resolve();
  await next;
  expect(seen).toEqual([0]);
});
