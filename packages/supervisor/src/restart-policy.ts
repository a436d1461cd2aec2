import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { GiveUp } from './child-spec.ts';

/** `failures`: consecutive exits, this one included, none of which came after a long run. */
export type Verdict = { again: true; delayMs: number; failures: number } | { again: false; why: string };

/** Decides after each unexpected exit whether and when to start again. */
export type RestartPolicy = {
  /** `at` comes from a monotonic clock; `ranMs` is the age of the process, `code` its exit code. */
  judge(exit: { at: number; ranMs: number; code: number | null }): Verdict;
  /** For a start by a person: earlier exits no longer count. */
  forget(): void;
};

/** The jitter spreads processes that failed together, so that they do not restart together. The longest pause is a minute. */
const pauses = { firstMs: 100, maxMs: 50_000, jitter: [0.8, 1.2] } as const;
/**
 * After a run this long earlier failures no longer count, and the next start is immediate. It is as long as the longest
 * pause, so that a process that crashes more often is restarted more and more slowly.
 */
export const stableMs = 60_000;

/** `giveUp` is called after each exit; null: it restarts for ever. */
export function createRestartPolicy(giveUp: () => GiveUp | null, random: () => number): RestartPolicy {
  let recent: number[] = [];
  let failures = 0;
  return {
    judge({ at, ranMs, code }) {
      failures = ranMs >= stableMs ? 0 : failures + 1;
      const limits = giveUp();
      recent = limits === null ? [] : [...recent.filter((time) => at - time < limits.periodMs), at];
      if (limits !== null && code !== null && limits.exitCodes.includes(code))
        return { again: false, why: 'a restart would not help' };
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
