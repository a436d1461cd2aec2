import { cutText } from '@svc/service-kit/cut-text.ts';

export type Snippet = { snippet: string; highlights: [number, number][] };

const before = 60;
const length = 200;
/** A match further into the text is not shown. */
const maxLooked = 64 * 1024;
const maxHighlights = 20;
const partOfWord = /[\p{L}\p{N}]/u;
const ownWord = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff]/;

/** The text around the first match, and the positions of the words in it. */
export function snippetAround(text: string, words: readonly string[]): Snippet {
  const looked = text.slice(0, maxLooked).normalize().replaceAll(/\s/g, ' ');
  const folded = fold(looked);
  const wanted = words.map(fold).filter((word) => word !== '');
  const first = Math.min(...wanted.map((word) => place(folded, word, 0)).filter((at) => at >= 0));
  const start = Number.isFinite(first) ? wordStart(looked, Math.max(0, first - before)) : 0;
  const snippet = cutText(looked.slice(start), length);
  return { snippet, highlights: placesOf(fold(snippet), wanted) };
}

/** Whether a text contains a word. */
export const holdsWord = (text: string, word: string): boolean => place(fold(text.normalize()), fold(word), 0) >= 0;

function placesOf(folded: string, words: readonly string[]): [number, number][] {
  const places: [number, number][] = [];
  for (const word of words) {
    for (let at = place(folded, word, 0); at >= 0 && places.length < maxHighlights; at = place(folded, word, at + word.length))
      places.push([at, at + word.length]);
  }
  return places.toSorted(([a], [b]) => a - b);
}

/** The position of a word in a text, from a position on; -1 if there is none. */
function place(text: string, word: string, from: number): number {
  for (let at = text.indexOf(word, from); at >= 0; at = text.indexOf(word, at + 1)) {
    const sign = text[at - 1] ?? ' ';
    if (!partOfWord.test(sign) || ownWord.test(sign) || ownWord.test(word)) return at;
  }
  return -1;
}

/** A start that is not in the middle of a word or a character. */
function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  const blank = text.indexOf(' ', at);
  return blank >= 0 && blank - at < before / 2 ? blank + 1 : at;
}

/** Removes case and accents and keeps the length, so that positions stay the same. */
const fold = (text: string): string => (/^[\0-\x7f]*$/.test(text) ? text.toLowerCase() : [...foldedSigns(text)].join(''));

function* foldedSigns(text: string): Generator<string> {
  for (const sign of text) {
    const plain = sign
      .normalize('NFD')
      .replace(/\p{M}+$/u, '')
      .toLowerCase();
    yield plain.length === sign.length ? plain : sign;
  }
}
