import { spacedText } from './spaced-text.ts';

/** A parsed query: the expression for the index, and the words to highlight in the results. */
export type Match = { expression: string; words: string[] };

const maxTerms = 16;
const term = /(-?)"([^"]*)"?(\*?)|(\S+)/gu;
const word = /[\p{L}\p{N}\p{Co}\p{So}]+/gu;

/**
 * Parses a query: all words must occur; `"several words"` are a phrase; `begin*` is a prefix; `-word` must not occur.
 * Everything else is text: the index gets only quoted strings, whatever is typed. Null if no word is left.
 */
export function toMatch(query: string): Match | null {
  const wanted: string[] = [];
  const unwanted: string[] = [];
  const words: string[] = [];
  for (const { text, isUnwanted, isBeginning } of termsOf(query).slice(0, maxTerms)) {
    const found = spacedText(text).match(word);
    if (found === null) continue;
    (isUnwanted ? unwanted : wanted).push(`"${found.join(' ')}"${isBeginning ? '*' : ''}`);
    if (!isUnwanted) words.push(...found);
  }
  if (wanted.length === 0) return null;
  const expression = [wanted.join(' AND '), ...unwanted].join(' NOT ');
  return { expression, words: [...new Set(words)] };
}

type Term = { text: string; isUnwanted: boolean; isBeginning: boolean };

function termsOf(query: string): Term[] {
  // A lone surrogate cannot be stored, so it cannot be found.
  const terms = query.toWellFormed().matchAll(term);
  return [...terms].map(([, minus = '', phrase, star = '', plain = '']) =>
    phrase === undefined
      ? { text: plain, isUnwanted: /^-./.test(plain), isBeginning: plain.endsWith('*') }
      : { text: phrase, isUnwanted: minus !== '', isBeginning: star !== '' },
  );
}
