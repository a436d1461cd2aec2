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
])('%j keeps %j back', (text, rest) => expect(held(text)).toBe(rest));

test('for the public the last word stays whole', () => {
  expect([held('plain words', true), held('plain words ', true), held('a.b', true)]).toEqual(['words', '', 'a.b']);
  expect([held('an josé', true), held('на иван@', true), held('。我们', true)]).toEqual(['josé', 'иван@', '我们']);
  expect(startOfRun('an josé@a', 8, true)).toBe(3);
});

test('for the public a quote that is open stays, until it is closed or too long', () => {
  expect([held('to "joe smi', true), held('to "joe smith"', true), held('"joe \\"x\\" smith"', true)]).toEqual([
    '"joe smi',
    '"joe smith"',
    '"joe \\"x\\" smith"',
  ]);
  expect([held('"joe" and ', true), held('"joe\n and ', true), held('said" and ', true)]).toEqual(['', '', '']);
  expect(held(`"joe ${'a '.repeat(40)}`, true)).toBe('');
  expect(held('to "joe smi')).toBe('');
});

test('nothing stays of what was settled', () => {
  expect(held('say x1y2', false, 6)).toBe('y2'.slice(1));
});

test('no run is looked at further back than 128', () => {
  const text = `9${'a'.repeat(128)}`;
  expect(holdPoint(text, 0, text.length, table, true)).toBe(1);
  expect([startOfRun(text, 129), startOfRun(text, 100), startOfRun('ab cd', 4), startOfRun('ab', -3)]).toEqual([1, 0, 3, 0]);
});

test('runs are made of the signs of tokens, in ASCII', () => {
  const signs = Array.from('aZ0_-./+=:@$%#&*!?~^');
  expect(signs.every((sign) => isRun(sign.charCodeAt(0)))).toBe(true);
  const others = Array.from(' \t\n"\'`,;<>()[]{}|\\é漢');
  expect(others.some((sign) => isRun(sign.charCodeAt(0)))).toBe(false);
  expect(Array.from(' \t\r\n"\'`=:>|\\').every((sign) => opensRun(sign.charCodeAt(0)))).toBe(true);
  expect(Array.from('a,;<é').some((sign) => opensRun(sign.charCodeAt(0)))).toBe(false);
});
