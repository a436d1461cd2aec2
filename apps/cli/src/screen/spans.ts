import stringWidth from 'fast-string-width';
import { visible, type Look, type Style } from '../terminal.ts';

/** A text with its style. */
export type Span = { text: string; looks: readonly Look[] };
/** The content of one line of a screen. */
export type Line = readonly Span[];

/** Foreign text made safe to show: control characters are escaped, and a tab is as wide as it looks. */
export const span = (text: string, ...looks: Look[]): Span => ({ text: visible(text).replaceAll('\t', '    '), looks });

/** The columns that a text takes. */
export const columnsOf = (text: string): number => stringWidth(text, { controlWidth: 0, tabWidth: 4 });
export const lineColumns = (line: Line): number => line.reduce((sum, { text }) => sum + columnsOf(text), 0);

/** A line as it is written. Each span resets its style, so that a line may be cut between spans. */
export const paint = (line: Line, style: Style): string =>
  line.map(({ text, looks }) => looks.reduce((shown, look) => style[look](shown), text)).join('');

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Splits a text into user-perceived characters. */
export const graphemes = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);

type Word = { spans: Span[]; columns: number; gap: Span | null };

/**
 * Wraps spans into lines of at most `columns`: between words, at line breaks, and within a word that is wider than a line.
 * Scripts without blanks may be wrapped at any character.
 */
export function wrapSpans(spans: readonly Span[], columns: number): Line[] {
  const room = Math.max(1, columns);
  return splitLines(spans).flatMap((line) => fill(wordsOf(line), room));
}

/** Splits spans at the line breaks in their texts. */
function splitLines(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  for (const { text, looks } of spans) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, looks });
    }
  }
  return lines;
}

const breakable =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303F\uFF00-\uFFEF]\p{M}*|\s+|[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303F\uFF00-\uFFEF]+/gu;
const isBlank = (text: string) => /^\s/.test(text);
const isSign = (text: string) => /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303F\uFF00-\uFFEF]/u.test(text);

function wordsOf(spans: readonly Span[]): Word[] {
  const words: Word[] = [];
  let gap: Span | null = null;
  let isOpen = false;
  for (const { text, looks } of spans) {
    for (const part of text.match(breakable) ?? []) {
      const piece = { text: part, looks };
      if (isBlank(part)) {
        gap ??= { text: part.replaceAll(/\s/g, ' '), looks };
        isOpen = false;
        continue;
      }
      const last = words.at(-1);
      if (isOpen && !isSign(part) && last !== undefined) {
        last.spans.push(piece);
        last.columns += columnsOf(part);
      } else words.push({ spans: [piece], columns: columnsOf(part), gap });
      gap = null;
      isOpen = !isSign(part);
    }
  }
  return words;
}

function fill(words: readonly Word[], columns: number): Line[] {
  const lines: Span[][] = [[]];
  let used = 0;
  const put = (piece: Span, width: number) => {
    lines.at(-1)?.push(piece);
    used += width;
  };
  const begin = () => {
    lines.push([]);
    used = 0;
  };
  for (const { spans, columns: width, gap } of words) {
    const gapColumns = gap?.text.length ?? 0;
    if (used > 0 && used + gapColumns + width > columns) begin();
    else if (gap !== null && used + gapColumns < columns) put(gap, gapColumns);
    if (width <= columns - used) for (const piece of spans) put(piece, columnsOf(piece.text));
    else putBroken(spans);
  }
  return lines;

  /** A word wider than a line continues on the next ones; a character wider than any line has its own. */
  function putBroken(pieces: readonly Span[]): void {
    for (const { text, looks } of pieces) {
      for (const sign of graphemes(text)) {
        const width = columnsOf(sign);
        if (used > 0 && used + width > columns) begin();
        put({ text: sign, looks }, width);
      }
    }
  }
}
