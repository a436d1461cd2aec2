import { describe, expect, test, vi } from 'vitest';
import type { TestModule } from 'vitest/node';
import { skipNote } from '@svc/testing/skip-note.ts';
import CountingReporter, { countTests } from './counting-reporter.ts';
import { retries } from './retries.ts';
import { closingLine, secondTryLines, skipLines, timeLines } from './test-counts.ts';

type State = 'passed' | 'failed' | 'skipped';
/** `firstError`: the error of the first try, after which it passed. */
type Case = [state: State, name?: string, note?: string, firstError?: string];

const toCase = ([state, fullName = 't', note, firstError]: Case) => ({
  fullName,
  result: () => ({ state, note, errors: firstError === undefined ? undefined : [{ message: firstError }] }),
  diagnostic: () => ({ flaky: firstError !== undefined }),
});

const module = (isOk: boolean, ...tests: Case[]): TestModule =>
  ({
    ok: () => isOk,
    children: { allTests: () => tests.map(toCase) },
  }) as unknown as TestModule;

describe('counts of a test run', () => {
  test.each([
    ['tests', [module(true, ['passed'], ['passed']), module(false, ['failed'], ['passed'])], 0, '3 passed, 1 failed'],
    ['a file that could not be loaded', [module(false)], 0, '0 passed, 1 failed'],
    ['an error outside of every test', [module(true, ['passed'])], 1, '1 passed, 1 failed'],
    ['skipped ones', [module(true, ['passed'], ['skipped'])], 0, '1 passed, 0 failed, 1 skipped'],
  ])('count %s', (_, modules, unhandled, line) => {
    expect(closingLine(countTests(modules, unhandled))).toBe(line);
  });

  test('list skipped tests by reason', () => {
    const counts = countTests(
      [module(true, ['skipped', 'a', 'no codex here'], ['skipped', 'b'], ['skipped', 'c', 'no codex here'])],
      0,
    );
    expect(skipLines(counts)).toEqual(['Skipped (no codex here):', '  a', '  c', 'Skipped (no reason given):', '  b']);
  });

  test('read the reason from the name of a test or its group', () => {
    const why = 'there is no browser (Debian: apt-get install chromium)';
    const counts = countTests(
      [
        module(
          true,
          ['skipped', `a group${skipNote(why)} > one`],
          ['skipped', `a test${skipNote(why)}`],
          ['skipped', 'c', 'no codex here'],
        ),
      ],
      0,
    );
    expect(skipLines(counts)).toEqual([`Skipped (${why}):`, '  a group > one', '  a test', 'Skipped (no codex here):', '  c']);
  });
});

describe('test that passed only on its second try', () => {
  test('counts as passed and is listed with its first error', () => {
    const again = module(true, ['passed', 'a'], ['passed', 'b', undefined, 'expected 1 to be 2\n+ 1\n- 2']);
    const counts = countTests([again, module(true, ['passed', 'c', undefined, ''])], 0);
    expect(closingLine(counts)).toBe('3 passed, 0 failed');
    expect(secondTryLines(counts)).toEqual(['Passed only on the second try:', '  b (first: expected 1 to be 2)', '  c']);
  });

  test('is not listed when there is none', () => expect(secondTryLines(countTests([module(true, ['passed'])], 0))).toEqual([]));

  test.each([
    ['no CI', {}, 0],
    ['an empty CI', { CI: '' }, 0],
    ['CI=false', { CI: 'false' }, 0],
    ['CI=true', { CI: 'true' }, 1],
    ['CI=1', { CI: '1' }, 1],
  ])('is retried only if CI is set: %s', (_, env, times) => expect(retries(env)).toBe(times));
});

describe('times of a test run', () => {
  test('are measured for each project, from its first file to its last', () => {
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

  test('have no line when there are none', () => expect(timeLines({})).toEqual([]));
});
