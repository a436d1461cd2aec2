import { createPatternMatcher, type PatternMatcher } from './pattern-matcher.ts';
import { isPartOfPlaceholder } from './placeholder.ts';
import { secretPatterns, type SecretPattern } from './secret-patterns.ts';
import { createStartFilter, type StartFilter } from './start-filter.ts';

/** All that is needed to find the values of a list, made once for every stream that looks for them. */
export type SecretMatcher = {
  readonly isEmpty: boolean;
  readonly patterns: readonly SecretPattern[];
  readonly automaton: PatternMatcher;
  readonly starts: StartFilter;
};

export function createSecretMatcher(secrets: Iterable<string>): SecretMatcher {
  const byText = new Map<string, SecretPattern>();
  for (const secret of secrets) {
    if (isPartOfPlaceholder(secret)) continue; // it would be masked in every mask
    for (const pattern of secretPatterns(secret)) addPattern(byText, pattern);
  }
  const patterns = [...byText.values()];
  const texts = [...byText.keys()];
  return {
    isEmpty: patterns.length === 0,
    patterns,
    automaton: createPatternMatcher(
      texts,
      patterns.map(({ skip }) => skip),
    ),
    starts: createStartFilter(texts),
  };
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
