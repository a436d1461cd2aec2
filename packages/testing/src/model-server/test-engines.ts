import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe } from 'vitest';
import { testUnless } from '../skip-note.ts';

const repositoryRoot = path.resolve(import.meta.dirname, '../../../..');

/** Where `scripts/install-test-engines.ts` installs the real engines, one folder each. */
export const testEnginesDir = process.env.SVC_TEST_ENGINES ?? path.join(repositoryRoot, '.cache/engines');

/**
 * A group of tests that need a real engine; `define` gets its install folder. Where the engine is not installed the
 * group is skipped, with a reason that says how to get it.
 */
export function describeWithEngine(id: string, name: string, define: (dir: string) => Promise<void>): void {
  const dir = testEngine(id);
  if (dir === null) testUnless(whyNoEngine(id))(name, () => undefined);
  else describe(name, () => define(dir));
}

/** The install folder of a real engine for tests; null when it is not installed. */
export function testEngine(id: string): string | null {
  const dir = path.join(testEnginesDir, id);
  return existsSync(path.join(dir, 'node_modules')) ? dir : null;
}

/** Why tests with a real engine are skipped; null when they run. */
export const whyNoEngine = (id: string): string | null =>
  testEngine(id) === null ? `the real ${id} engine is not there; run: node scripts/install-test-engines.ts` : null;
