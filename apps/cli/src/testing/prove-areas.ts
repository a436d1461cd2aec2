import { print } from '../terminal.ts';
import { branchCoverage, type BranchCoverage } from './branch-coverage.ts';
import { mutationScore, type MutationScore } from './mutation-score.ts';
import { provenAreas, type ProvenArea } from './proven-areas.ts';

const leastBranches = 95;
const leastScore = 80;
const shownSurvivors = 40;

/**
 * Measures how well the tests know the areas that must not fail: the branches they take, and the faults they notice when
 * some are put in. Prints a line for each; gives how many are below what they have to be. Minutes for each area.
 */
export async function proveAreas(env: NodeJS.ProcessEnv): Promise<number> {
  const lines: string[] = [];
  let failed = 0;
  for (const area of provenAreas) {
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

function toLine({ name }: ProvenArea, branches: BranchCoverage | null, score: MutationScore | null): string {
  const taken = branches === null ? 'not measured' : `${percent(branches.covered, branches.total)} of branches taken`;
  const noticed = score === null ? 'not measured' : `${percent(score.detected, score.total)} of faults noticed`;
  return `${name}: ${taken} (at least ${leastBranches} %), ${noticed} (at least ${leastScore} %)`;
}

const percent = (part: number, total: number): string => `${((100 * part) / total).toFixed(1)} % (${part} of ${total})`;

/** Where faults went unnoticed, of an area that is below. */
function survivors(score: MutationScore | null): string[] {
  if (score === null || reaches(score.detected, score.total, leastScore)) return [];
  return score.survived.slice(0, shownSurvivors).map((place) => `  unnoticed: ${place}`);
}
