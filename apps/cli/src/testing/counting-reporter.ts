import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { createRunningFiles, type RunningFiles } from './running-files.ts';
import type { TestCounts, TestReport, TestTimes } from './test-counts.ts';

/**
 * A vitest reporter that writes the counts into the file `TEST_COUNTS_FILE`. It prints nothing: the command that started vitest prints the last line
 * (see `commands/test.ts`).
 */
export default class CountingReporter implements Reporter {
  readonly #spans = new Map<string, { from: number; to: number }>();
  readonly #running = noteRunning();

  onTestModuleStart(module: TestModule): void {
    this.#running?.started(fileOf(module));
    this.#note(module);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running?.ended(fileOf(module));
    this.#note(module);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const file = process.env['TEST_COUNTS_FILE'];
    const report: TestReport = { ...countTests(modules, unhandled.length), times: this.times() };
    if (file !== undefined) writeFileSync(file, JSON.stringify(report));
  }

  /** The time of each project so far. */
  times(): TestTimes {
    return Object.fromEntries([...this.#spans].map(([name, { from, to }]) => [name, to - from]));
  }

  #note({ project }: Pick<TestModule, 'project'>): void {
    const now = performance.now();
    this.#spans.set(project.name, { from: this.#spans.get(project.name)?.from ?? now, to: now });
  }
}

/** Writes to the file `TEST_RUNNING_FILE`, if it is set. */
function noteRunning(): RunningFiles | null {
  const note = process.env['TEST_RUNNING_FILE'];
  return note === undefined ? null : createRunningFiles(note);
}

const fileOf = ({ relativeModuleId }: TestModule): string => relativeModuleId;

/** A file that could not be loaded counts as one failure, and so does an error outside of every test. */
export function countTests(modules: readonly TestModule[], unhandled: number): TestCounts {
  const counts: TestCounts = { passed: 0, failed: unhandled, skipped: 0, skips: [], secondTries: [] };
  for (const module of modules) {
    const failedBefore = counts.failed;
    for (const test of module.children.allTests()) countTest(counts, test);
    if (!module.ok() && counts.failed === failedBefore) counts.failed++;
  }
  return counts;
}

function countTest(counts: TestCounts, test: TestCase): void {
  const result = test.result();
  if (result.state === 'passed') {
    counts.passed++;
    // These errors are from the first try.
    if (test.diagnostic()?.flaky === true) {
      counts.secondTries.push({ name: test.fullName, firstError: firstLineOf(result.errors?.[0]?.message ?? '') });
    }
  } else if (result.state === 'skipped') {
    counts.skipped++;
    counts.skips.push({ name: test.fullName, reason: result.note ?? null });
  } else counts.failed++;
}

/** Includes the seed of a property, with which it can be run again. */
function firstLineOf(message: string): string | null {
  const [first = '', second = ''] = message.split('\n');
  if (first === '') return null;
  return second.startsWith('{ seed') ? `${first} ${second}` : first;
}
