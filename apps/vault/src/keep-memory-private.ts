import { writeFileSync } from 'node:fs';

/** Keeps memory out of core dumps, where the system lets a process say so (Linux). Says whether it did. */
export function keepMemoryPrivate(file = '/proc/self/coredump_filter'): boolean {
  try {
    writeFileSync(file, '0');
    return true;
  } catch {
    return false; // another system: its administrator switches core dumps off (docs/vault.md)
  }
}
