import fc from 'fast-check';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { spacedText } from './spaced-text.ts';
import { toMatch } from './to-match.ts';

function openIndex(texts: readonly string[]) {
  const db = new DatabaseSync(':memory:');
  db.exec(`CREATE VIRTUAL TABLE t USING fts5(text, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So'")`);
  const add = db.prepare('INSERT INTO t (rowid, text) VALUES (?, ?)');
  texts.forEach((text, i) => add.run(i, spacedText(text)));
  const find = db.prepare('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid');
  return (query: string) => {
    const match = toMatch(query);
    return match === null ? null : find.all(match.expression).map((row) => Number(row['rowid']));
  };
}

test.each([
  ['quick fox', [0]],
  ['QUICK', [0, 1]],
  ['"quick brown"', [0]],
  ['"brown quick"', []],
  ['bro*', [0]],
  ['bro', []],
  ['quick -fox', [1]],
  ['cafe', [2]],
  ['café', [2]],
  ['cafe\u0301', [2]],
  ['re\u0301sume\u0301s', [7]],
  ['résumés', [7]],
  ['한글', [8]],
  ['\u1112\u1161\u11ab\u1100\u1173\u11af', [8]],
  ['"au lait', [2]],
  ['你好', [3]],
  ['世界', [3]],
  ['好世', [3]],
  ['界世', []],
  ['👍', [4]],
  ['日本', [5]],
  ['a-b', [6]],
  ['NEAR(quick fox)', []],
  ['text:quick', []],
  ['quick OR fox', []],
  ['OR', []],
  ['*', null],
  ['"', null],
  ['""', null],
  ['-', null],
  ['((', null],
])('%s finds %j', (query, rows) => {
  const find = openIndex([
    'the quick brown fox',
    'quick one',
    'un Café au lait',
    '说你好世界吧',
    'great👍work',
    '私は日本人です',
    'x a-b y',
    'two re\u0301sume\u0301s',
    'the folder \u1112\u1161\u11ab\u1100\u1173\u11af',
  ]);
  expect(find(query)).toEqual(rows);
});

test('random input is never a syntax error of the index', () => {
  const find = openIndex(['some text']);
  const sign = fc.constantFrom(
    '"',
    '*',
    '-',
    '(',
    ')',
    ':',
    '^',
    '+',
    '{',
    '}',
    'NEAR',
    'AND',
    'OR',
    'NOT',
    ' ',
    'a',
    '\0',
    '你',
    '👍',
    '\ud800',
    'é',
  );
  fc.assert(
    fc.property(
      fc.array(sign).map((signs) => signs.join('')),
      (query) => void find(query),
    ),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (query) => void find(query)),
    { numRuns: 2000 },
  );
});
