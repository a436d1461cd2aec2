import { readAllMemory, type ProcessMemory } from '@svc/service-kit/process/process-usage.ts';

/** Each measurement reads all processes of the machine, so callers within this time share one, ms. */
const delayMs = 500;

let nextLook: Promise<ProcessMemory[]> | null = null;

/**
 * Resident memory of a process and all its child processes, in bytes, measured after half a second; null when it is gone or unknown.
 * Rejects when the processes cannot be read.
 */
export async function treeMemory(pid: number): Promise<number | null> {
  nextLook ??= new Promise((resolve) => setTimeout(resolve, delayMs).unref()).then(() => {
    nextLook = null;
    return readAllMemory();
  });
  const rows = await nextLook;
  const tree = new Set([pid]);
  let bytes = 0;
  let isThere = false;
  // Parents almost always have lower ids than their children; another pass finds the exceptions.
  for (let found = 0; found !== tree.size;) {
    found = tree.size;
    for (const row of rows) if (tree.has(row.parent)) tree.add(row.pid);
  }
  for (const row of rows) {
    if (!tree.has(row.pid)) continue;
    bytes += row.memoryBytes;
    isThere ||= row.pid === pid;
  }
  return isThere ? bytes : null;
}
