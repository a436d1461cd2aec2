import { expect, it } from 'vitest';
import { backOff } from './child-spec.ts';
import { createRestartPolicy } from './restart-policy.ts';

it('does not count exits of before the clock was set back among those of the last minute', () => {
  const policy = createRestartPolicy([], () => 0.5);
  const hour = 3_600_000;
  const at = 10 * hour;
  const judge = (when: number) => policy.judge({ at: when, ranMs: 0, code: 1 }).again;
  for (let i = 0; i < backOff.intensity; i++) expect(judge(at + i)).toBe(true);
  for (let i = 0; i < backOff.intensity; i++) expect(judge(at - hour + i * backOff.periodMs)).toBe(true);
});
