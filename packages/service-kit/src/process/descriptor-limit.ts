import { readFileSync } from 'node:fs';

/** Where the system does not say. */
const usual = 8192;

/** How many files and connections the system lets this process have open at a time. */
export const descriptorLimit = (): number => Number(/^Max open files\s+(\d+)/m.exec(readLimits())?.[1] ?? usual);

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return ''; // only Linux has it
  }
}
