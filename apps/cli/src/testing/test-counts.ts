/** How a test run ended. `skips` names each skipped test with its reason, when it gave one. */
export type TestCounts = { passed: number; failed: number; skipped: number; skips: { name: string; reason: string | null }[] };

/** The line that closes every test run, alone and last, for programs that read it. */
export const closingLine = ({ passed, failed, skipped }: TestCounts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

/** A run that ended without telling: it counts as one failure. */
export const noCounts: TestCounts = { passed: 0, failed: 1, skipped: 0, skips: [] };

/** Skipped tests under their reasons, one line each. */
export function skipLines({ skips }: TestCounts): string[] {
  const byReason = new Map<string, string[]>();
  for (const { name, reason } of skips) {
    const key = reason ?? 'no reason given';
    byReason.set(key, [...(byReason.get(key) ?? []), name]);
  }
  return [...byReason].flatMap(([reason, names]) => [`Skipped (${reason}):`, ...names.map((name) => `  ${name}`)]);
}
