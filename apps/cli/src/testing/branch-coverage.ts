import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../repository-root.ts';
import type { ProvenArea } from './proven-areas.ts';
import { runNode } from './run-node.ts';

/** Branches of an area that its tests take, of all there are. */
export type BranchCoverage = { covered: number; total: number };

type Summary = { total: { branches: BranchCoverage } };

const vitest = path.join(repositoryRoot, 'node_modules/vitest/vitest.mjs');
const cache = path.join(repositoryRoot, '.cache/coverage');

/** Runs the tests of an area and counts the branches they take. Null when they fail or the tool ends without a result. */
export async function branchCoverage({ name, sources, tests, moreTests = [] }: ProvenArea, env: NodeJS.ProcessEnv) {
  const dir = path.join(cache, name);
  const file = path.join(dir, 'coverage-summary.json');
  mkdirSync(dir, { recursive: true });
  rmSync(file, { force: true });
  const code = await runNode([vitest, ...argsOf(sources, dir)], { ...env, TEST_AREA: JSON.stringify([...tests, ...moreTests]) });
  return code === 0 && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Summary).total.branches : null;
}

const argsOf = (sources: readonly string[], dir: string): string[] => [
  'run',
  '--config=apps/cli/src/testing/area.vitest.config.ts',
  '--reporter=dot',
  '--coverage.enabled',
  '--coverage.provider=v8',
  '--coverage.reporter=json-summary',
  `--coverage.reportsDirectory=${dir}`,
  ...sources.map((glob) => (glob.startsWith('!') ? `--coverage.exclude=${glob.slice(1)}` : `--coverage.include=${glob}`)),
];
