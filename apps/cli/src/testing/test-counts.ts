/**
 * The result of a test run. `skips` names each skipped test with its reason, if it gave one; `secondTries` those that failed first and
 * passed on the second try (they count as passed), with the first error.
 */
export type TestCounts = {
  passed: number;
  failed: number;
  skipped: number;
  skips: { name: string; reason: string | null }[];
  secondTries: { name: string; firstError: string | null }[];
};

/** The duration of each group of tests, from its first test to its last, in ms. */
export type TestTimes = Readonly<Record<string, number>>;
export type TestReport = TestCounts & { times: TestTimes };

/** The last line of every test run, for programs that read it. */
export const closingLine = ({ passed, failed, skipped }: TestCounts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

/** A run without a report counts as one failure. */
export const noReport: TestReport = { passed: 0, failed: 1, skipped: 0, skips: [], secondTries: [], times: {} };

/** The durations of the groups of tests in one line; no line when none are known. */
export const timeLines = (times: TestTimes): string[] => {
  const groups = Object.entries(times).map(([name, ms]) => `${name} ${(ms / 1000).toFixed(1)} s`);
  return groups.length === 0 ? [] : [`Took: ${groups.join(', ')}`];
};

const reasonInName = / \(skipped: (.+?)\)(?= > |$)/;

/** Skipped tests grouped by reason, one line each. The reason may be part of the name of the test or of its group. */
export function skipLines({ skips }: TestCounts): string[] {
  const byReason = new Map<string, string[]>();
  for (const { name, reason } of skips) {
    const key = reason ?? reasonInName.exec(name)?.[1] ?? 'no reason given';
    byReason.set(key, [...(byReason.get(key) ?? []), name.replace(reasonInName, '')]);
  }
  return [...byReason].flatMap(([reason, names]) => [`Skipped (${reason}):`, ...names.map((name) => `  ${name}`)]);
}

/** Tests that passed only on their second try, one line each, under a heading; no line when there are none. */
export function secondTryLines({ secondTries }: TestCounts): string[] {
  if (secondTries.length === 0) return [];
  const lines = secondTries.map(({ name, firstError }) =>
    firstError === null ? `  ${name}` : `  ${name} (first: ${firstError})`,
  );
  return ['Passed only on the second try:', ...lines];
}
