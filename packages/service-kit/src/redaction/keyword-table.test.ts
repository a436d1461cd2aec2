import { expect, test } from 'vitest';
import { createKeywordTable, type KeywordTable } from './keyword-table.ts';
import type { DetectionRule, Trigger } from './rules/rule.ts';

const rule = (id: string, ...triggers: Trigger[]): DetectionRule => ({ id, triggers, find: () => [] });
const token = (...words: string[]): Trigger => ({ opening: 'token', words });

/** Each keyword that ends in a text, with the place behind it. */
function found({ next, classes, width, firstHit, hits, keywords }: KeywordTable, text: string): string[] {
  const all: string[] = [];
  let state = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    state = next[state * width + (unit < 128 ? (classes[unit] ?? 0) : 0)] ?? 0;
    if (state < firstHit) expect(hits(state)).toEqual([]);
    else for (const index of hits(state)) all.push(`${keywords[index]?.word}@${at + 1}`);
  }
  return all;
}

test('every keyword is found wherever it ends, also within and behind another, whatever its case', () => {
  const table = createKeywordTable([rule('a', token('he', 'she', 'hers', 'his'))]);
  expect(found(table, 'usHErs')).toEqual(['she@4', 'he@4', 'hers@6']);
  expect(found(table, 'hishe')).toEqual(['his@3', 'she@5', 'he@5']);
  expect(found(table, 'hhehe')).toEqual(['he@3', 'he@5']);
  expect(found(table, 'hxe h e')).toEqual([]);
});

test('a unit that no keyword has ends all that was begun', () => {
  const table = createKeywordTable([rule('a', token('key-', '1z'))]);
  expect(found(table, 'ke€y- ke y- 1Z key-')).toEqual(['1z@14', 'key-@19']);
});

test('a keyword of many rules asks them all, once each', () => {
  const table = createKeywordTable([rule('a', token('k')), rule('b', token('k'), token('k')), rule('c', token('m'))]);
  expect(table.keywords).toEqual([
    { word: 'k', opening: 'token', isBound: false, rules: [0, 1] },
    { word: 'm', opening: 'token', isBound: false, rules: [2] },
  ]);
});

test('the same word that opens in other ways is several keywords', () => {
  const line: Trigger = { opening: 'line', words: ['k'] };
  const bound: Trigger = { opening: 'token', words: ['k'], isBound: true };
  const table = createKeywordTable([rule('a', token('k'), line, bound)]);
  expect(table.keywords.map(({ opening, isBound }) => [opening, isBound])).toEqual([
    ['token', false],
    ['line', false],
    ['token', true],
  ]);
  expect(found(table, 'k')).toHaveLength(3);
});

test('what begins like a token is known, what begins like other keywords is not', () => {
  const table = createKeywordTable([
    rule('a', token('sk-'), { opening: 'assigned-token', words: ['://'] }, { opening: 'assignment', words: ['pass'] }),
  ]);
  expect(['s', 'sk', 'sk-', ':', ':/', '://'].map(table.isTokenStart)).toEqual([true, true, true, true, true, true]);
  expect(['', 'k', 'sk-a', 'p', 'pass'].map(table.isTokenStart)).toEqual([false, false, false, false, false]);
});
