import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { GiveUp } from './child-spec.ts';

/** `failures`: exits in a row, this one among them, none of which came after a long run. */
export type Verdict = { again: true; delayMs: number; failures: number } | { again: false; why: string };

/** Decides after each unasked exit whether and when to start again. */
export type RestartPolicy = {
  /** `at` is of a clock that only goes forward, `ranMs` the age of the process, `code` its exit code. */
  judge(exit: { at: number; ranMs: number; code: number | null }): Verdict;
  /** A person started it: earlier exits no longer count. */
  forget(): void;
};

/** Siblings that failed together are spread, so that they do not come back as one. The longest pause is a minute. */
const pauses = { firstMs: 100, maxMs: 50_000, jitter: [0.8, 1.2] } as const;
/**
 * After a run this long earlier failures no longer count, and the next start is at once. It is as long as the longest
 * pause, so that what crashes more often than that is tried ever more slowly.
 */
export const stableMs = 60_000;

/** `giveUp` is asked after each exit; null: it is tried for ever. */
export function createRestartPolicy(giveUp: () => GiveUp | null, random: () => number): RestartPolicy {
  let recent: number[] = [];
  let failures = 0;
  return {
    judge({ at, ranMs, code }) {
      failures = ranMs >= stableMs ? 0 : failures + 1;
      const limits = giveUp();
      recent = limits === null ? [] : [...recent.filter((time) => at - time < limits.periodMs), at];
      if (limits !== null && code !== null && limits.exitCodes.includes(code))
        return { again: false, why: 'starting again would not help' };
      if (limits !== null && recent.length > limits.exits)
        return { again: false, why: `gave up after ${recent.length} exits within ${limits.periodMs / 1000} s` };
      return { again: true, failures, delayMs: backOffMs(pauses, failures, random) };
    },
    forget() {
      recent = [];
      failures = 0;
    },
  };
}
