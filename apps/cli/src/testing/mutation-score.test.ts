import { expect, test } from 'vitest';
import { countMutants } from './mutation-score.ts';

const mutant = (status: string, line = 1) => ({ status, mutatorName: 'M', replacement: 'x', location: { start: { line } } });

test('killed and timed-out mutants count as detected, survived and uncovered ones do not, others are ignored', () => {
  const statuses = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'RuntimeError', 'CompileError'];
  const score = countMutants({ files: { 'a.ts': { mutants: statuses.map((status, i) => mutant(status, i)) } } });
  expect(score).toEqual({ detected: 2, total: 4, survived: ['a.ts:2 M x', 'a.ts:3 M x'] });
});
