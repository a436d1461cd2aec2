import { expect, test } from 'vitest';
import { holdPoint, isRun, opensRun, startOfRun } from './held-text.ts';
import { createKeywordTable } from './keyword-table.ts';

const table = createKeywordTable([{ id: 'a', triggers: [{ opening: 'token', words: ['sk-live'] }], find: () => [] }]);
const held = (text: string, holdsWords = false, from = 0) => text.slice(holdPoint(text, from, text.length, table, holdsWords));

test.each([
  ['plain words', ''],
  ['plain Words', ''],
  ['the tokens sk', 'sk'],
  ['the tokens SK-', 'SK-'],
  ['say sk-liver', '-liver'],
  ['say aB3', 'B3'],
  ['say A1', '1'],
  ['say a.b', '.b'],
  ['say .bc', '.bc'],
  ['say 9bc', '9bc'],
  ['say _bc', '_bc'],
  ['say ~bc', '~bc'],
  ['say Zz and zZ', 'Z'],
  ['say az', ''],
  ['say a~', '~'],
  ['say A@', '@'],
  ['ends here. ', ''],
  [`x ${'a'.repeat(20)}9${'a'.repeat(3)}`, '9aaa'],
])('%j holds back %j', (text, rest) => expect(held(text)).toBe(rest));

test('in public, holds back the last word', () => {
  expect([held('plain words', true), held('plain words ', true), held('a.b', true)]).toEqual(['words', '', 'a.b']);
  expect([held('an josé', true), held('на иван@', true), held('。我们', true)]).toEqual(['josé', 'иван@', '我们']);
  expect(startOfRun('an josé@a', 8, true)).toBe(3);
});

test('in public, holds back an open quote until it is closed or too long', () => {
  expect([held('to "joe smi', true), held('to "joe smith"', true), held('"joe \\"x\\" smith"', true)]).toEqual([
    '"joe smi',
    '"joe smith"',
    '"joe \\"x\\" smith"',
  ]);
  expect([held('"joe" and ', true), held('"joe\n and ', true), held('said" and ', true)]).toEqual(['', '', '']);
  expect(held(`"joe ${'a '.repeat(40)}`, true)).toBe('');
  expect(held('to "joe smi')).toBe('');
});

test('holds back nothing before the given position', () => {
  expect(held('say x1y2', false, 6)).toBe('y2'.slice(1));
});

test('looks back at most 128 characters', () => {
  const text = `9${'a'.repeat(128)}`;
  expect(holdPoint(text, 0, text.length, table, true)).toBe(1);
  expect([startOfRun(text, 129), startOfRun(text, 100), startOfRun('ab cd', 4), startOfRun('ab', -3)]).toEqual([1, 0, 3, 0]);
});

test('isRun() accepts the ASCII characters of tokens only', () => {
  const signs = Array.from('aZ0_-./+=:@$%#&*!?~^');
  expect(signs.every((sign) => isRun(sign.charCodeAt(0)))).toBe(true);
  const others = Array.from(' \t\n"\'`,;<>()[]{}|\\é漢');
  expect(others.some((sign) => isRun(sign.charCodeAt(0)))).toBe(false);
  expect(Array.from(' \t\r\n"\'`=:>|\\').every((sign) => opensRun(sign.charCodeAt(0)))).toBe(true);
  expect(Array.from('a,;<é').some((sign) => opensRun(sign.charCodeAt(0)))).toBe(false);
});
