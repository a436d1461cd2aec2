import type { Steps } from './redaction/pace.ts';

/**
 * Texts of others without lines that read like a heading of ours. `headings`: how those begin, in lower-case letters alone, as much of each as
 * distinguishes it.
 */
export const createHeadingGuard = (headings: readonly string[]): ((text: string) => Steps<string>) => {
  const readsLikeHeading = (text: string): boolean => looksLikeHeading(text, headings);

  return function* withoutHeadings(text: string): Steps<string> {
    let plain = '';
    for (let at = 0, end = 0; at < text.length; at = end) {
      end = endOfStep(text, at);
      plain += plainText(text.slice(at, end));
      yield;
    }
    return yield* withBracketsReplaced(plain, readsLikeHeading);
  };
};

/** A text of this length is looked at in one step. */
export const stepLength = 4096;

/** The bracket at the beginning of a line that reads like a heading becomes a parenthesis. */
function* withBracketsReplaced(text: string, readsLikeHeading: (text: string) => boolean): Steps<string> {
  let out = '';
  let kept = 0;
  let stepAt = stepLength;
  for (let line = 0; line < text.length; line = text.indexOf('\n', line) + 1 || text.length) {
    if (!isPlain(text.charCodeAt(line))) {
      // What cannot be seen is passed in parts: all of a long text may be that.
      for (let end = line; (end = endOf(unseen, text, line)) > line; line = end) if (end - line >= stepLength) yield;
      const end = endOf(openingBracket, text, line);
      if (end > line && readsLikeHeading(text.slice(end, end + readAhead))) {
        out += `${text.slice(kept, line)}(`;
        kept = end;
      }
    }
    if (line < stepAt) continue;
    yield;
    stepAt = line + stepLength;
  }
  return out + text.slice(kept);
}

/** Of ASCII, seen, and no bracket: how most lines begin. */
const isPlain = (unit: number): boolean => unit > 0x20 && unit < 0x7f && unit !== 0x5b;

/** Where what a sticky pattern finds at a place ends; the place itself where it finds nothing. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Neither a line end of two characters nor a character of two units is cut. */
function endOfStep(text: string, from: number): number {
  const end = from + stepLength;
  return /^(?:\r\n|[\ud800-\udbff][\udc00-\udfff])$/.test(text.slice(end - 1, end + 1)) ? end + 1 : Math.min(text.length, end);
}

/** Whatever a reader may take for a line's end is one; other control characters say nothing. */
export const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n|[\r\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/[\p{Cc}--[\t\n]]/gv, '');

/** Marks that stand alone: their compatibility form is a blank or nothing with a mark. */
const loneMarks =
  '\\xa8\\xaf\\xb4\\xb8\\u02d8-\\u02dd\\u037a\\u0384\\u0385\\u1fbd\\u1fbf-\\u1fc1\\u1fcd-\\u1fcf\\u1fdd-\\u1fdf\\u1fed\\u1fee\\u1ffd\\u1ffe' +
  '\\u2017\\u203e\\u309b\\u309c\\ufc5e-\\ufc63\\ufe49-\\ufe4c\\ufe70\\ufe72\\ufe74\\ufe76\\ufe78\\ufe7a\\ufe7c\\ufe7e\\uff9e\\uff9f\\uffe3';
/** What cannot be seen at the beginning of a line, or is no more than a mark, up to a step of it. */
const unseen = new RegExp(
  String.raw`[[\p{Z}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\t\u2800${loneMarks}]--[\n]]{1,4096}`,
  'vy',
);
/** Anything like an opening bracket, a sign in brackets too. */
const openingBracket = /[[\p{Ps}\u23a1-\u23a3\u2308\u230a\u{1f240}-\u{1f248}]--[\(\{]]/vy;

/** Longer than any heading, however it is spaced out. */
const readAhead = 240;

/**
 * Reads a line as generously as a model does: compatibility forms, marks, spacing and punctuation do not count, and a
 * letter of another script may stand for any or for none, as long as half of the letters are really there.
 */
function looksLikeHeading(text: string, headings: readonly string[]): boolean {
  const [line = ''] = text.split('\n', 1);
  const letters = line
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}+|[^\p{L}\p{N}]+/gu, '');
  const latin = letters.replace(/[^a-z]+/g, '');
  // A letter with a mark is that letter to one reader, and to another none at all.
  const unmarked = line
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z]+/g, '');
  return headings.some((heading) => latin.startsWith(heading) || unmarked.startsWith(heading) || isLike(letters, heading));
}

function isLike(letters: string, heading: string): boolean {
  let same = 0;
  let at = 0;
  for (const letter of letters) {
    const isAscii = /[a-z]/.test(letter);
    if (isAscii && letter !== heading[at]) return false;
    if (isAscii) same++;
    if (++at === heading.length) return same * 2 >= heading.length;
  }
  return false;
}
