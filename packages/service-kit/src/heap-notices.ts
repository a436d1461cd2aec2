import { getHeapStatistics } from 'node:v8';

type Heap = { used_heap_size: number; heap_size_limit: number };

/** Above this share V8 spends more and more time on garbage collection; at the limit it ends the process. */
const nearShare = 0.9;

const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024);

/** A notice if this process is about to run out of heap. Garbage counts until it is collected. */
export function heapNotices({ used_heap_size: used, heap_size_limit: limit }: Heap = getHeapStatistics()): string[] {
  if (used < nearShare * limit) return [];
  return [
    `${mib(used)} of ${mib(limit)} MB of heap are in use; at the limit this process crashes and is restarted. ` +
      'Raise the limit with NODE_OPTIONS=--max-old-space-size=MB.',
  ];
}
