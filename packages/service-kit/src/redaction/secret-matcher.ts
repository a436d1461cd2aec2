import { atOnce, type Steps } from './pace.ts';
import { buildPatternMatcher, type PatternMatcher } from './pattern-matcher.ts';
import { isPartOfPlaceholder } from './placeholder.ts';
import { buildSpacedMatcher, type SpacedMatcher } from './spaced-values.ts';
import { literalPatterns, plainLiterals, plainPatterns, secretPatterns, type SecretPattern } from './secret-patterns.ts';
import { buildStartFilter, type StartFilter } from './start-filter.ts';

export type PatternSet = {
  readonly patterns: readonly SecretPattern[];
  readonly automaton: PatternMatcher;
};

/** Everything needed to find a list of values, built once and shared by all streams. */
export type SecretMatcher = PatternSet & {
  readonly isEmpty: boolean;
  readonly starts: StartFilter;
  /** For undecoded text. */
  readonly literal: PatternSet;
  /** For values that contain white space, in any spelling. */
  readonly spaced: SpacedMatcher | null;
};

export const createSecretMatcher = (secrets: Iterable<string>): SecretMatcher => atOnce(buildSecretMatcher(secrets));

/** Built in steps, because all forms of fifty secrets take a tenth of a second. */
export const buildSecretMatcher = (secrets: Iterable<string>): Steps<SecretMatcher> =>
  buildMatcher(secrets, secretPatterns, literalPatterns);

/** A quickly built matcher for the meantime: it finds the values in every encoding, except nested and reversed ones. */
export const createPlainMatcher = (secrets: Iterable<string>): SecretMatcher =>
  atOnce(buildMatcher(secrets, plainPatterns, plainLiterals));

type PatternsOf = (secret: string) => SecretPattern[];

function* buildMatcher(secrets: Iterable<string>, patternsOf: PatternsOf, literalsOf: PatternsOf): Steps<SecretMatcher> {
  const canonical = new Map<string, SecretPattern>();
  const literal = new Map<string, SecretPattern>();
  const looked: string[] = [];
  for (const secret of secrets) {
    if (isPartOfPlaceholder(secret)) continue; // it would be masked in every mask
    looked.push(secret);
    for (const pattern of patternsOf(secret)) addPattern(canonical, pattern);
    for (const pattern of literalsOf(secret)) addPattern(literal, pattern);
    yield;
  }
  return {
    ...(yield* patternSet(canonical)),
    isEmpty: canonical.size === 0 && literal.size === 0,
    starts: yield* buildStartFilter([...canonical.keys(), ...literal.keys()], shortestOf(canonical)),
    literal: yield* patternSet(literal),
    spaced: yield* buildSpacedMatcher(looked),
  };
}

/** A pattern that is found only after an escape has its first characters in that escape. */
const shortestOf = (byText: ReadonlyMap<string, SecretPattern>): number =>
  [...byText.values()].reduce((least, { text, isBehindEscape }) => (isBehindEscape ? least : Math.min(least, text.length)), 1000);

function* patternSet(byText: ReadonlyMap<string, SecretPattern>): Steps<PatternSet> {
  const patterns = [...byText.values()];
  const skips = patterns.map(({ skip }) => skip);
  return { patterns, automaton: yield* buildPatternMatcher([...byText.keys()], skips) };
}

/** Two values may share a pattern: the one that masks more wins. */
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
