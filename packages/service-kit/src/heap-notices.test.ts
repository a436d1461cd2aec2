import { expect, test } from 'vitest';
import { heapNotices } from './heap-notices.ts';

const mib = 1024 * 1024;

test('reports a nearly full heap with its numbers, and nothing below that', () => {
  expect(heapNotices({ used_heap_size: 899 * mib, heap_size_limit: 1000 * mib })).toEqual([]);
  expect(heapNotices({ used_heap_size: 901 * mib, heap_size_limit: 1000 * mib })).toEqual([
    expect.stringContaining('901 of 1000 MB of heap are in use'),
  ]);
  expect(heapNotices()).toEqual([]);
});
