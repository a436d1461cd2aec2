import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPatternMatcher, type PatternMatcher } from './pattern-matcher.ts';

/** The end and length of every longest pattern, found the quick way: passing over what cannot begin one. */
function found(matcher: PatternMatcher, text: string): string[] {
  const all: string[] = [];
  let state = 0;
  for (let i = 0; i < text.length;) {
    if (state === 0) i = matcher.firstStart(text, i);
    if (i >= text.length) break;
    state = matcher.step(state, text.charCodeAt(i++));
    const length = matcher.matchLength(state);
    if (length > 0) all.push(text.slice(i - length, i));
  }
  return all;
}

/** The same by looking for each pattern at each place. */
function expected(patterns: readonly string[], text: string): string[] {
  const all: string[] = [];
  for (let end = 1; end <= text.length; end++) {
    const longest = patterns.filter((pattern) => text.slice(0, end).endsWith(pattern)).toSorted((a, b) => b.length - a.length)[0];
    if (longest !== undefined) all.push(longest);
  }
  return all;
}

test('every pattern is found wherever it ends, the longest where several do', () => {
  const patterns = ['abab', 'ababc', 'babab', 'cccc', 'é漢é漢', 'aé漢b'];
  const matcher = createPatternMatcher(patterns);
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'é', '漢', 'ab', 'cc', 'xxxxx'), { maxLength: 30 });
  const property = fc.property(texts, (parts) => {
    const text = parts.join('');
    expect(found(matcher, text)).toEqual(expected(patterns, text));
  });
  fc.assert(property, { numRuns: process.env['TEST_MUTANTS'] === '1' ? 200 : 2000 });
});

test('the depth is the length of what a pattern may have begun with', () => {
  const matcher = createPatternMatcher(['abcd', 'bcxx']);
  let state = 0;
  const depths = Array.from('abcx').map((char) => matcher.depth((state = matcher.step(state, char.charCodeAt(0)))));
  expect(depths).toEqual([1, 2, 3, 3]);
  expect(matcher.depth(matcher.step(state, 'q'.charCodeAt(0)))).toBe(0);
});

test('text in which no pattern can begin is passed over at once, but for its end', () => {
  const matcher = createPatternMatcher(['abcdef']);
  const plain = 'n'.repeat(100);
  expect(matcher.firstStart(plain, 0)).toBe(97);
  expect(matcher.firstStart(`${plain}abcd`, 0)).toBe(100);
  expect(matcher.firstStart('xx', 1)).toBe(1);
  expect(matcher.firstStart(`abcd${plain}`, 1)).toBeGreaterThan(90);
  // A pattern may have a line break in it: nothing before one is passed over.
  expect([matcher.firstStart('nnnnnab\ncd', 0), matcher.firstStart('nnnnnab\rcd', 0), matcher.firstStart('\nabcd', 0)]).toEqual([
    4, 4, 0,
  ]);
});

test('without patterns there is nothing to look for', () => {
  expect([createPatternMatcher([]).isEmpty, createPatternMatcher(['abcd']).isEmpty]).toEqual([true, false]);
});
