import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from './pace.ts';
import { buildPatternMatcher } from './pattern-matcher.ts';

const createPatternMatcher = (patterns: readonly string[], skips: readonly number[] = []) =>
  atOnce(buildPatternMatcher(patterns, skips));

/** The longest pattern that ends at each position. */
function found(patterns: readonly string[], text: string): string[] {
  const matcher = createPatternMatcher(patterns);
  const all: string[] = [];
  let state = 0;
  for (let i = 0; i < text.length; i++) {
    state = matcher.step(state, text.charCodeAt(i));
    const match = matcher.matchAt(state);
    if (match !== 0) all.push(patterns[matcher.patternOf(match)]!);
  }
  return all;
}

/** The same, by looking for each pattern at each position. */
function expected(patterns: readonly string[], text: string): string[] {
  const all: string[] = [];
  for (let end = 1; end <= text.length; end++) {
    const longest = patterns.filter((pattern) => text.slice(0, end).endsWith(pattern)).toSorted((a, b) => b.length - a.length)[0];
    if (longest !== undefined) all.push(longest);
  }
  return all;
}

test('finds the longest pattern at every position', () => {
  const patterns = ['abab', 'ababc', 'babab', 'cccc', 'é漢é漢', 'aé漢b'];
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'é', '漢', 'ab', 'cc', 'xxxxx'), { maxLength: 30 });
  const property = fc.property(texts, (parts) => {
    const text = parts.join('');
    expect(found(patterns, text)).toEqual(expected(patterns, text));
  });
  fc.assert(property, { numRuns: process.env['TEST_MUTANTS'] === '1' ? 200 : 2000 });
});

test('depth() is the length of the longest beginning of a pattern', () => {
  const matcher = createPatternMatcher(['abcd', 'bcxx']);
  let state = 0;
  const depths = Array.from('abcx').map((char) => matcher.depth((state = matcher.step(state, char.charCodeAt(0)))));
  expect(depths).toEqual([1, 2, 3, 3]);
  expect(matcher.depth(matcher.step(state, 'q'.charCodeAt(0)))).toBe(0);
});

test('shorterMatch() returns the shorter patterns that end at the same position', () => {
  const patterns = ['abcde', 'bcde', 'de'];
  const matcher = createPatternMatcher(patterns);
  let state = 0;
  for (const char of 'abcde') state = matcher.step(state, char.charCodeAt(0));
  const ends: string[] = [];
  for (let match = matcher.matchAt(state); match !== 0; match = matcher.shorterMatch(match)) {
    ends.push(patterns[matcher.patternOf(match)]!);
  }
  expect(ends).toEqual(patterns);
});

test('does not hold back the skippable beginning of a pattern, unless another pattern holds it', () => {
  const matcher = createPatternMatcher(['abcdef', 'cdxx'], [3, 0]);
  let state = 0;
  const held = Array.from('abcde').map((char) => matcher.heldDepth((state = matcher.step(state, char.charCodeAt(0)))));
  expect(held).toEqual([0, 0, 1, 2, 2]);
});
