import { backOff } from './child-spec.ts';

export type Verdict = { again: true; delayMs: number } | { again: false; why: string };

/** Decides after each unasked exit whether and when to start again. */
export type RestartPolicy = {
  /** `at` is epoch ms, `ranMs` the age of the process, `code` its exit code. */
  judge(exit: { at: number; ranMs: number; code: number | null }): Verdict;
  /** A person started it anew: earlier exits no longer count. */
  forget(): void;
};

export function createRestartPolicy(fatalExitCodes: readonly number[], random: () => number): RestartPolicy {
  let recent: number[] = [];
  let streak = 0;
  return {
    judge({ at, ranMs, code }) {
      // Exits in the future are those of before the clock was set back.
      recent = [...recent.filter((time) => time <= at && at - time < backOff.periodMs), at];
      streak = ranMs >= backOff.stableMs ? 0 : streak + 1;
      if (code !== null && fatalExitCodes.includes(code)) return { again: false, why: 'starting again would not help' };
      if (recent.length > backOff.intensity) {
        return { again: false, why: `gave up after ${recent.length} exits within ${backOff.periodMs / 1000} s` };
      }
      return { again: true, delayMs: delayOf(streak, random) };
    },
    forget() {
      recent = [];
      streak = 0;
    },
  };
}

/** Nothing for a child that had been stable; then doubling, spread by the jitter so that siblings do not come back as one. */
function delayOf(streak: number, random: () => number): number {
  if (streak === 0) return 0;
  const base = Math.min(backOff.firstMs * backOff.factor ** (streak - 1), backOff.maxMs);
  return Math.round(base * (1 + backOff.jitter * (2 * random() - 1)));
}
