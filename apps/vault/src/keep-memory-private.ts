import { writeFileSync } from 'node:fs';

/** Keeps memory out of core dumps, where a process can do so (Linux). Returns whether it did. */
export function keepMemoryPrivate(file = '/proc/self/coredump_filter'): boolean {
  try {
    writeFileSync(file, '0');
    return true;
  } catch {
    return false; // another system: its administrator switches core dumps off (docs/vault.md)
  }
}
