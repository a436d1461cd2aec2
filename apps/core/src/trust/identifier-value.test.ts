import { expect, test } from 'vitest';
import { identifierProblem, isSurface, toIdentifierValue } from './identifier-value.ts';

test.each([
  ['anna', null],
  ['', 'is blank'],
  [' \t', 'is blank'],
  [' anna', 'begins or ends with a blank'],
  ['anna ', 'begins or ends with a blank'],
  ['an\ud800na', 'has broken characters'],
  ['an\u0000na', 'has control characters'],
])('the value %j %s', (value, problem) => expect(identifierProblem(value)).toBe(problem));

test('names of surfaces are short, in small letters', () => {
  expect(['a', 'compat', 'a-b_9', 'a'.repeat(32)].map(isSurface)).toEqual([true, true, true, true]);
  expect(['', '9a', 'A', 'a b', 'aB', 'a'.repeat(33), '__proto__', null, 7].some(isSurface)).toBe(false);
});

test('case is ignored where names ignore it', () => {
  expect(['email', 'issues', 'chatroom'].map((surface) => toIdentifierValue(surface, 'AnNa'))).toEqual(['anna', 'anna', 'AnNa']);
});
