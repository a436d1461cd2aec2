import { createPatternMatcher, type PatternMatcher } from './pattern-matcher.ts';
import { isPartOfPlaceholder } from './placeholder.ts';
import { literalPatterns, secretPatterns, type SecretPattern } from './secret-patterns.ts';
import { createStartFilter, type StartFilter } from './start-filter.ts';

export type PatternSet = {
  readonly patterns: readonly SecretPattern[];
  readonly automaton: PatternMatcher;
};

/** All that is needed to find the values of a list, made once for every stream that looks for them. */
export type SecretMatcher = PatternSet & {
  readonly isEmpty: boolean;
  readonly starts: StartFilter;
  /** For text that is not decoded. */
  readonly literal: PatternSet;
};

export function createSecretMatcher(secrets: Iterable<string>): SecretMatcher {
  const canonical = new Map<string, SecretPattern>();
  const literal = new Map<string, SecretPattern>();
  for (const secret of secrets) {
    if (isPartOfPlaceholder(secret)) continue; // it would be masked in every mask
    for (const pattern of secretPatterns(secret)) addPattern(canonical, pattern);
    for (const pattern of literalPatterns(secret)) addPattern(literal, pattern);
  }
  return {
    ...patternSet(canonical),
    isEmpty: canonical.size === 0 && literal.size === 0,
    starts: createStartFilter([...canonical.keys(), ...literal.keys()], shortestOf(canonical)),
    literal: patternSet(literal),
  };
}

/** What is found only behind an escape has its first characters in that escape. */
const shortestOf = (byText: ReadonlyMap<string, SecretPattern>): number =>
  [...byText.values()].reduce((least, { text, isBehindEscape }) => (isBehindEscape ? least : Math.min(least, text.length)), 1000);

function patternSet(byText: ReadonlyMap<string, SecretPattern>): PatternSet {
  const patterns = [...byText.values()];
  const skips = patterns.map(({ skip }) => skip);
  return { patterns, automaton: createPatternMatcher([...byText.keys()], skips) };
}

/** Two values may be looked for as the same text: what masks more holds. */
function addPattern(byText: Map<string, SecretPattern>, pattern: SecretPattern): void {
  const other = byText.get(pattern.text);
  if (other === undefined) return void byText.set(pattern.text, pattern);
  byText.set(pattern.text, {
    text: pattern.text,
    isBehindEscape: pattern.isBehindEscape && other.isBehindEscape,
    skip: Math.min(pattern.skip, other.skip),
    more: Math.max(pattern.more, other.more),
    minimumSpan: Math.min(pattern.minimumSpan, other.minimumSpan),
  });
}
