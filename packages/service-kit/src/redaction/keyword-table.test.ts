import { expect, test } from 'vitest';
import { createKeywordTable, type KeywordTable } from './keyword-table.ts';
import type { DetectionRule, Trigger } from './rules/rule.ts';

const rule = (id: string, ...triggers: Trigger[]): DetectionRule => ({ id, triggers, find: () => [] });
const token = (...words: string[]): Trigger => ({ opening: 'token', words });

/** Every keyword that ends in the text, with the position after it. */
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

test('finds every keyword in any case, also within and after others', () => {
  const table = createKeywordTable([rule('a', token('he', 'she', 'hers', 'his'))]);
  expect(found(table, 'usHErs')).toEqual(['she@4', 'he@4', 'hers@6']);
  expect(found(table, 'hishe')).toEqual(['his@3', 'she@5', 'he@5']);
  expect(found(table, 'hhehe')).toEqual(['he@3', 'he@5']);
  expect(found(table, 'hxe h e')).toEqual([]);
});

test('a character that no keyword contains resets the match', () => {
  const table = createKeywordTable([rule('a', token('key-', '1z'))]);
  expect(found(table, 'ke€y- ke y- 1Z key-')).toEqual(['1z@14', 'key-@19']);
});

test('a keyword of several rules lists each once', () => {
  const table = createKeywordTable([rule('a', token('k')), rule('b', token('k'), token('k')), rule('c', token('m'))]);
  expect(table.keywords).toEqual([
    { word: 'k', opening: 'token', isBound: false, rules: [0, 1] },
    { word: 'm', opening: 'token', isBound: false, rules: [2] },
  ]);
});

test('a word with several openings is several keywords', () => {
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

test('isTokenStart() accepts beginnings of token keywords only', () => {
  const table = createKeywordTable([
    rule('a', token('sk-'), { opening: 'assigned-token', words: ['://'] }, { opening: 'assignment', words: ['pass'] }),
  ]);
  expect(['s', 'sk', 'sk-', ':', ':/', '://'].map(table.isTokenStart)).toEqual([true, true, true, true, true, true]);
  expect(['', 'k', 'sk-a', 'p', 'pass'].map(table.isTokenStart)).toEqual([false, false, false, false, false]);
});
