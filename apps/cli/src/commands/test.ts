import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { repositoryRoot } from '../repository-root.ts';
import { print } from '../terminal.ts';
import { proveAreas } from '../testing/prove-areas.ts';
import { runNode } from '../testing/run-node.ts';
import { closingLine, noCounts, skipLines, type TestCounts } from '../testing/test-counts.ts';

const reporter = path.join(repositoryRoot, 'apps/cli/src/testing/counting-reporter.ts');
const vitest = path.join(repositoryRoot, 'node_modules/vitest/vitest.mjs');

/**
 * Runs the tests with vitest; `deep` also measures how well they know what must not fail, where all tests are asked for.
 * The last line of the output is `N passed, N failed`, whatever happened before.
 */
export async function test(filters: readonly string[], { deep }: { deep?: boolean }): Promise<number> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-test-'));
  const countsFile = path.join(dir, 'counts.json');
  try {
    const args = [vitest, 'run', '--reporter=default', `--reporter=${reporter}`, ...filters];
    const env = cleanEnv(process.env);
    const code = await runNode(args, { ...env, TEST_COUNTS_FILE: countsFile, ...(deep === true ? { TEST_DEEP: '1' } : {}) });
    const counts = readCounts(countsFile);
    if (deep === true && filters.length === 0) counts.failed += await proveAreas(env);
    for (const line of skipLines(counts)) print(line);
    const isGood = code === 0 && counts.failed === 0;
    print(closingLine(code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts));
    return isGood ? exitCodes.ok : exitCodes.failed;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Tests see neither this machine's settings nor anyone's keys. */
function cleanEnv(all: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isPrivate = (name: string) =>
    /^SVC_(?!NODE$)|^(ANTHROPIC|OPENAI|CLAUDE|CODEX|GEMINI|GOOGLE)_|^CLAUDECODE$|_API_KEY$/.test(name);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !isPrivate(name)));
}

function readCounts(file: string): TestCounts {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestCounts;
  } catch {
    return noCounts; // vitest ended before it could count
  }
}
