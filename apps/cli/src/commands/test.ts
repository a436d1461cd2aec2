import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { repositoryRoot } from '../repository-root.ts';
import { print } from '../terminal.ts';
import { cleanEnv } from '../testing/clean-env.ts';
import { filesInMemory } from '../testing/files-in-memory.ts';
import { measureAreas } from '../testing/measure-areas.ts';
import { missingLines, neededPrograms } from '../testing/missing-programs.ts';
import { earlierWords, lastWords, noteIn } from '../testing/running-files.ts';
import { runNode } from '../testing/run-node.ts';
import { closingLine, noReport, secondTryLines, skipLines, timeLines, type TestReport } from '../testing/test-counts.ts';

const reporter = path.join(repositoryRoot, 'apps/cli/src/testing/counting-reporter.ts');
const vitest = path.join(repositoryRoot, 'node_modules/vitest/vitest.mjs');

/** A file that survives when a run is killed with all its processes. */
const notes = path.join(repositoryRoot, '.cache');
const runningFile = noteIn(notes);

export type TestOptions = { deep?: boolean; unit?: boolean };

/**
 * Runs the tests with vitest: all of them, or with `unit` those that start no process. `deep` runs every property
 * many times more often (`deepProperties`) and, when all tests run, measures how well they cover the critical areas.
 * The last line of the output is always `N passed, N failed`.
 */
export async function test(filters: readonly string[], { deep, unit }: TestOptions): Promise<number> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-test-'));
  const countsFile = path.join(dir, 'counts.json');
  const inMemory = filesInMemory(process.env);
  try {
    const args = [
      vitest,
      'run',
      '--reporter=default',
      `--reporter=${reporter}`,
      ...(unit === true ? ['--project=unit'] : []),
      ...filters,
    ];
    const env = { ...cleanEnv(process.env), ...(inMemory !== null && { TMPDIR: inMemory.path }) };
    if (unit !== true) sayWhatIsMissing(filters);
    for (const line of earlierWords(notes)) print(line);
    const files = { TEST_COUNTS_FILE: countsFile, TEST_RUNNING_FILE: runningFile };
    const code = await runNode(args, { ...env, ...files, ...(deep === true ? { TEST_DEEP: '1' } : {}) });
    // The report is written last: without one the run was killed.
    for (const line of existsSync(countsFile) ? [] : lastWords(runningFile, () => true)) print(line);
    rmSync(runningFile, { force: true });
    const counts = readReport(countsFile);
    if (deep === true && unit !== true && filters.length === 0) counts.failed += await measureAreas(env);
    for (const line of [...skipLines(counts), ...secondTryLines(counts), ...timeLines(counts.times)]) print(line);
    const isGood = code === 0 && counts.failed === 0;
    print(closingLine(code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts));
    return isGood ? exitCodes.ok : exitCodes.failed;
  } finally {
    rmSync(dir, { recursive: true, force: true });
    inMemory?.remove();
  }
}

/** Only before all tests run: a part of them may not need it. */
function sayWhatIsMissing(filters: readonly string[]): void {
  if (filters.length > 0) return;
  for (const line of missingLines(neededPrograms({ root: repositoryRoot, env: process.env }), { root: repositoryRoot }))
    print(line);
}

function readReport(file: string): TestReport {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport;
  } catch {
    return noReport; // vitest ended before it could count
  }
}
