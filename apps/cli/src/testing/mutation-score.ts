import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../repository-root.ts';
import type { MeasuredArea } from './measured-areas.ts';
import { runNode } from './run-node.ts';

/** How many changes of an area its tests noticed. `survived` lists the places of unnoticed ones. */
export type MutationScore = { detected: number; total: number; survived: string[] };

type Report = { files: Record<string, { mutants: Mutant[] }> };
type Mutant = { status: string; mutatorName: string; replacement?: string; location: { start: { line: number } } };

const stryker = path.join(repositoryRoot, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const cache = path.join(repositoryRoot, '.cache/mutation');

/**
 * Changes the sources of an area in a copy, one place at a time, and runs its quick tests on each. Results of earlier
 * runs for unchanged code are read from `.cache/mutation`. Null when the tool ended without a result.
 */
export async function mutationScore(area: MeasuredArea, env: NodeJS.ProcessEnv): Promise<MutationScore | null> {
  mkdirSync(cache, { recursive: true });
  const report = path.join(cache, `${area.name}.report.json`);
  rmSync(report, { force: true });
  const options = path.join(cache, `${area.name}.options.json`);
  writeFileSync(options, JSON.stringify(strykerOptions(area, report)));
  await runNode([stryker, 'run', options], { ...env, TEST_AREA: JSON.stringify(area.tests), TEST_MUTANTS: '1' });
  return existsSync(report) ? countMutants(JSON.parse(readFileSync(report, 'utf8')) as Report) : null;
}

const strykerOptions = ({ name, sources }: MeasuredArea, report: string) => ({
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  // All tests of the area are candidates; a first run finds out which of them reach a change.
  vitest: { configFile: 'apps/cli/src/testing/area.vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // A table that is read once, when its file is loaded, would need all tests for every change in it.
  ignoreStatic: true,
  mutate: sources,
  ignorePatterns: ['/.cache', '/.runtime', '/.ci', '/bench', '/coverage'],
  incremental: true,
  incrementalFile: path.join(cache, `${name}.json`),
  tempDirName: path.join('.cache/mutation', `copy-${name}`),
  disableTypeChecks: false,
  // It would move the paths in it to the copy by an interface that this compiler no longer has. Nothing is compiled here.
  tsconfigFile: 'none',
  concurrency: 2,
  timeoutMS: 5000,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: report },
  allowConsoleColors: false,
});

/** Changes that cannot be tested (they do not compile, or are read only once) are not counted. */
export function countMutants({ files }: Report): MutationScore {
  const score: MutationScore = { detected: 0, total: 0, survived: [] };
  for (const [file, { mutants }] of Object.entries(files)) {
    for (const { status, mutatorName, replacement = '', location } of mutants) {
      const isDetected = status === 'Killed' || status === 'Timeout';
      const isMissed = status === 'Survived' || status === 'NoCoverage';
      if (isDetected) score.detected++;
      if (isDetected || isMissed) score.total++;
      if (isMissed) score.survived.push(`${file}:${location.start.line} ${mutatorName} ${replacement}`);
    }
  }
  return score;
}
