import path from 'node:path';
import type { Plugin } from 'vitest/config';

const deep = path.join(import.meta.dirname, 'deep-fast-check.ts');

/** How much longer a test may take then. */
export const deepTimeouts = 10;

/** Has every test get the fast-check that runs each property many times as often. */
export const deepProperties = (): Plugin => ({
  name: 'deep-properties',
  enforce: 'pre',
  resolveId: (id, importer) => (id === 'fast-check' && importer !== deep ? deep : null),
});
