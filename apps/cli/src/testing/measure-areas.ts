import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { print } from '../terminal.ts';
import { repositoryRoot } from '../repository-root.ts';
import { mutationScore, type MutationScore } from './mutation-score.ts';
import { type MeasuredArea, measuredAreas } from './measured-areas.ts';
import { runNode } from './run-node.ts';

const leastBranches = 95;
const leastScore = 80;
const shownSurvivors = 40;

/**
 * Measures how well the tests cover the critical areas: the branches they take, and the injected faults that they
 * notice. Prints a line for each area, and returns how many are below their limits. Takes minutes for each area.
 */
export async function measureAreas(env: NodeJS.ProcessEnv): Promise<number> {
  const lines: string[] = [];
  let failed = 0;
  for (const area of measuredAreas) {
    const branches = await branchCoverage(area, env);
    const score = await mutationScore(area, env);
    if (!reaches(branches?.covered, branches?.total, leastBranches)) failed++;
    if (!reaches(score?.detected, score?.total, leastScore)) failed++;
    lines.push(toLine(area, branches, score), ...survivors(score));
  }
  for (const line of lines) print(line);
  return failed;
}

const reaches = (part = 0, total = 0, least: number): boolean => total > 0 && (100 * part) / total >= least;

function toLine({ name }: MeasuredArea, branches: BranchCoverage | null, score: MutationScore | null): string {
  const taken = branches === null ? 'not measured' : `${percent(branches.covered, branches.total)} of branches taken`;
  const noticed = score === null ? 'not measured' : `${percent(score.detected, score.total)} of faults noticed`;
  return `${name}: ${taken} (at least ${leastBranches} %), ${noticed} (at least ${leastScore} %)`;
}

const percent = (part: number, total: number): string => `${((100 * part) / total).toFixed(1)} % (${part} of ${total})`;

/** The places of unnoticed faults, for an area below its limit. */
function survivors(score: MutationScore | null): string[] {
  if (score === null || reaches(score.detected, score.total, leastScore)) return [];
  return score.survived.slice(0, shownSurvivors).map((place) => `  unnoticed: ${place}`);
}

/** The share of an area's branches that its tests take. */
type BranchCoverage = { covered: number; total: number };

type Summary = { total: { branches: BranchCoverage } };

const vitest = path.join(repositoryRoot, 'node_modules/vitest/vitest.mjs');
const cache = path.join(repositoryRoot, '.cache/coverage');

/** Runs the tests of an area and counts the branches they take. Null when they fail, or the tool ends without a result. */
async function branchCoverage({ name, sources, tests, moreTests = [] }: MeasuredArea, env: NodeJS.ProcessEnv) {
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
