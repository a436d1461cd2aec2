import { readFileSync } from 'node:fs';

/** If the system does not report it. */
const usual = 8192;

/** How many files and connections this process may have open. */
export const descriptorLimit = (): number => Number(/^Max open files\s+(\d+)/m.exec(readLimits())?.[1] ?? usual);

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return ''; // only Linux has it
  }
}
