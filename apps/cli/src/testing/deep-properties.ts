import path from 'node:path';
import type { Plugin } from 'vitest/config';

const deep = path.join(import.meta.dirname, 'deep-fast-check.ts');

/** The factor for test timeouts in this mode. */
export const deepTimeouts = 10;

/** Gives every test the fast-check that runs each property many times more often. */
export const deepProperties = (): Plugin => ({
  name: 'deep-properties',
  enforce: 'pre',
  resolveId: (id, importer) => (id === 'fast-check' && importer !== deep ? deep : null),
});
