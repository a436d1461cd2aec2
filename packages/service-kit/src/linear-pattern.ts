import { createRequire } from 'node:module';
import type * as Re2 from 're2js';

/** A pattern that is searched in time linear in the text, so that no pattern can block the process. */
export type LinearPattern = { isIn(text: string): boolean };

/** Loaded with the first pattern, because most installations have none. */
const load = () => createRequire(import.meta.url)('re2js') as typeof Re2;

/**
 * Matches any of some regular expressions (RE2 syntax: no look-around, no back-references), ignoring case.
 * @throws Error that names the first invalid one.
 */
export function compileLinear(patterns: readonly string[]): LinearPattern {
  if (patterns.length === 0) return { isIn: () => false };
  const { RE2JS } = load();
  for (const pattern of patterns) {
    try {
      RE2JS.compile(pattern);
    } catch (error) {
      throw new Error(`"${pattern.slice(0, 200)}" is not a regular expression: ${(error as Error).message}`, { cause: error });
    }
  }
  const any = RE2JS.compile(patterns.map((pattern) => `(?:${pattern})`).join('|'), RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL);
  return { isIn: (text) => any.test(text) };
}
