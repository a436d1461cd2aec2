import { expect, test } from 'vitest';
import { heapNotices } from './heap-notices.ts';

const mib = 1024 * 1024;

test('a notice says that the heap is nearly used up, with what there is, and nothing before', () => {
  expect(heapNotices({ used_heap_size: 899 * mib, heap_size_limit: 1000 * mib })).toEqual([]);
  expect(heapNotices({ used_heap_size: 901 * mib, heap_size_limit: 1000 * mib })).toEqual([
    expect.stringContaining('901 of 1000 MB of heap are in use'),
  ]);
  expect(heapNotices()).toEqual([]);
});
