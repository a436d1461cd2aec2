import { describe, expect, test, vi } from 'vitest';
import type { TestModule } from 'vitest/node';
import CountingReporter, { countTests } from './counting-reporter.ts';
import { closingLine, skipLines, timeLines } from './test-counts.ts';

type State = 'passed' | 'failed' | 'skipped';

const module = (isOk: boolean, ...tests: [state: State, name?: string, note?: string][]): TestModule =>
  ({
    ok: () => isOk,
    children: { allTests: () => tests.map(([state, fullName = 't', note]) => ({ fullName, result: () => ({ state, note }) })) },
  }) as unknown as TestModule;

describe('the counts of a test run', () => {
  test.each([
    ['tests', [module(true, ['passed'], ['passed']), module(false, ['failed'], ['passed'])], 0, '3 passed, 1 failed'],
    ['a file that could not be loaded', [module(false)], 0, '0 passed, 1 failed'],
    ['an error outside of every test', [module(true, ['passed'])], 1, '1 passed, 1 failed'],
    ['skipped ones', [module(true, ['passed'], ['skipped'])], 0, '1 passed, 0 failed, 1 skipped'],
  ])('count %s', (_, modules, unhandled, line) => {
    expect(closingLine(countTests(modules, unhandled))).toBe(line);
  });

  test('list skipped tests under their reasons', () => {
    const counts = countTests(
      [module(true, ['skipped', 'a', 'no codex here'], ['skipped', 'b'], ['skipped', 'c', 'no codex here'])],
      0,
    );
    expect(skipLines(counts)).toEqual(['Skipped (no codex here):', '  a', '  c', 'Skipped (no reason given):', '  b']);
  });
});

describe('the times of a test run', () => {
  test('are those of each project, from its first file to its last', () => {
    const clock = vi.spyOn(performance, 'now');
    const reporter = new CountingReporter();
    const at = (ms: number, name: string, what: 'onTestModuleStart' | 'onTestModuleEnd') => {
      clock.mockReturnValueOnce(ms);
      reporter[what]({ project: { name } } as TestModule);
    };
    at(0, 'unit', 'onTestModuleStart');
    at(500, 'unit', 'onTestModuleStart');
    at(1500, 'unit', 'onTestModuleEnd');
    at(2000, 'process', 'onTestModuleStart');
    at(2040, 'unit', 'onTestModuleEnd');
    at(62_000, 'process', 'onTestModuleEnd');
    clock.mockRestore();
    expect(timeLines(reporter.times())).toEqual(['Took: unit 2.0 s, process 60.0 s']);
  });

  test('have no line when none are known', () => expect(timeLines({})).toEqual([]));
});
