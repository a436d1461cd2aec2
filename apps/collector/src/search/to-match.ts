import { spacedText } from './spaced-text.ts';

/** What a person looks for: the expression for the index, and the words to show in what was found. */
export type Match = { expression: string; words: string[] };

const maxTerms = 16;
const term = /(-?)"([^"]*)"?(\*?)|(\S+)/gu;
const word = /[\p{L}\p{N}\p{Co}\p{So}]+/gu;

/**
 * Reads a query: all words have to occur; `"several words"` stand together; `begin*` is a beginning; `-word` must not
 * occur. Everything else is text: whatever is typed, the index gets nothing but quoted strings. Null when no word is left.
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
  // A lone half of a pair cannot be stored, so it cannot be found.
  const terms = query.toWellFormed().matchAll(term);
  return [...terms].map(([, minus = '', phrase, star = '', plain = '']) =>
    phrase === undefined
      ? { text: plain, isUnwanted: /^-./.test(plain), isBeginning: plain.endsWith('*') }
      : { text: phrase, isUnwanted: minus !== '', isBeginning: star !== '' },
  );
}
