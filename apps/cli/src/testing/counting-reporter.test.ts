import { describe, expect, it } from 'vitest';
import type { TestModule } from 'vitest/node';
import { countTests } from './counting-reporter.ts';
import { closingLine, skipLines } from './test-counts.ts';

type State = 'passed' | 'failed' | 'skipped';

const module = (isOk: boolean, ...tests: [state: State, name?: string, note?: string][]): TestModule =>
  ({
    ok: () => isOk,
    children: { allTests: () => tests.map(([state, fullName = 't', note]) => ({ fullName, result: () => ({ state, note }) })) },
  }) as unknown as TestModule;

describe('the counts of a test run', () => {
  it.each([
    ['tests', [module(true, ['passed'], ['passed']), module(false, ['failed'], ['passed'])], 0, '3 passed, 1 failed'],
    ['a file that could not be loaded', [module(false)], 0, '0 passed, 1 failed'],
    ['an error outside of every test', [module(true, ['passed'])], 1, '1 passed, 1 failed'],
    ['skipped ones', [module(true, ['passed'], ['skipped'])], 0, '1 passed, 0 failed, 1 skipped'],
  ])('count %s', (_, modules, unhandled, line) => {
    expect(closingLine(countTests(modules, unhandled))).toBe(line);
  });

  it('name what was skipped under its reason', () => {
    const counts = countTests(
      [module(true, ['skipped', 'a', 'no codex here'], ['skipped', 'b'], ['skipped', 'c', 'no codex here'])],
      0,
    );
    expect(skipLines(counts)).toEqual(['Skipped (no codex here):', '  a', '  c', 'Skipped (no reason given):', '  b']);
  });
});
