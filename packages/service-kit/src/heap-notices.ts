import { getHeapStatistics } from 'node:v8';

type Heap = { used_heap_size: number; heap_size_limit: number };

/** From here on V8 spends more and more of its time collecting, and past the limit it ends the process. */
const nearShare = 0.9;

const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024);

/** Says that this process is about to run out of heap. What may be collected counts until it is. */
export function heapNotices({ used_heap_size: used, heap_size_limit: limit }: Heap = getHeapStatistics()): string[] {
  if (used < nearShare * limit) return [];
  return [
    `${mib(used)} of ${mib(limit)} MB of heap are used; past that this process ends and is started again. ` +
      'NODE_OPTIONS=--max-old-space-size=MB gives it more.',
  ];
}
