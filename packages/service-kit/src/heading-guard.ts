import type { Steps } from './redaction/pace.ts';

/**
 * Changes lines of untrusted texts that look like one of our headings. `headings`: the beginnings of these, only lower-case letters, as much of each
 * as is distinctive.
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

/** Characters that are processed in one step. */
export const stepLength = 4096;

/** Replaces the bracket at the beginning of a line that looks like a heading by a parenthesis. */
function* withBracketsReplaced(text: string, readsLikeHeading: (text: string) => boolean): Steps<string> {
  let out = '';
  let kept = 0;
  let stepAt = stepLength;
  for (let line = 0; line < text.length; line = text.indexOf('\n', line) + 1 || text.length) {
    if (!isPlain(text.charCodeAt(line))) {
      // Invisible characters are skipped in parts, because a long text may consist of them.
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

/** A visible ASCII character other than a bracket, with which most lines begin. */
const isPlain = (unit: number): boolean => unit > 0x20 && unit < 0x7f && unit !== 0x5b;

/** The end of the match of a sticky pattern at a position; the position itself if there is none. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** A step ends neither within a line end of two characters nor within a surrogate pair. */
function endOfStep(text: string, from: number): number {
  const end = from + stepLength;
  return /^(?:\r\n|[\ud800-\udbff][\udc00-\udfff])$/.test(text.slice(end - 1, end + 1)) ? end + 1 : Math.min(text.length, end);
}

/** Replaces everything that a reader may take for a line end by `\n`, and removes other control characters. */
export const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n|[\r\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/[\p{Cc}--[\t\n]]/gv, '');

/** Marks without a letter: their compatibility form is a space, or nothing, with a mark. */
const loneMarks =
  '\\xa8\\xaf\\xb4\\xb8\\u02d8-\\u02dd\\u037a\\u0384\\u0385\\u1fbd\\u1fbf-\\u1fc1\\u1fcd-\\u1fcf\\u1fdd-\\u1fdf\\u1fed\\u1fee\\u1ffd\\u1ffe' +
  '\\u2017\\u203e\\u309b\\u309c\\ufc5e-\\ufc63\\ufe49-\\ufe4c\\ufe70\\ufe72\\ufe74\\ufe76\\ufe78\\ufe7a\\ufe7c\\ufe7e\\uff9e\\uff9f\\uffe3';
/** Invisible characters and lone marks at the beginning of a line, up to one step. */
const unseen = new RegExp(
  String.raw`[[\p{Z}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\t\u2800${loneMarks}]--[\n]]{1,4096}`,
  'vy',
);
/** Anything that looks like an opening bracket, including characters in brackets. */
const openingBracket = /[[\p{Ps}\u23a1-\u23a3\u2308\u230a\u{1f240}-\u{1f248}]--[\(\{]]/vy;

/** Longer than any heading, even with extra spaces. */
const readAhead = 240;

/**
 * Reads a line as leniently as a model does: compatibility forms, marks, spaces and punctuation are ignored, and a letter of
 * another script may replace any letter or none, as long as half of the letters are there.
 */
function looksLikeHeading(text: string, headings: readonly string[]): boolean {
  const [line = ''] = text.split('\n', 1);
  const letters = line
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}+|[^\p{L}\p{N}]+/gu, '');
  const latin = letters.replace(/[^a-z]+/g, '');
  // To some readers a letter with a mark is that letter, to others it is none.
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
