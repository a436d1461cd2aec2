import { readAllMemory, type ProcessMemory } from '@svc/service-kit/process/process-usage.ts';

/** A look reads every process of the machine, so those who ask meanwhile share one. */
const delayMs = 500;

let nextLook: Promise<ProcessMemory[]> | null = null;

/**
 * Resident memory of a process and everything it has started, bytes, half a second from now; null when it is gone or
 * is unknown. Rejects when the machine cannot be looked at.
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
  // Parents have lower ids than their children almost always; a second look finds those that do not.
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
