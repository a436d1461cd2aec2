import { bare } from './typed-text.ts';

/** What a terminal shows: its visible lines with their colours (SGR), and the cursor position, counted from 0. */
export type Screen = { lines: readonly string[]; x: number; y: number };

/** The prompt that engines' programs print before the input. */
const prompt = /^[\s│|]*[❯›>]\s$/u;
// eslint-disable-next-line no-control-regex
const style = /\u001b\[([\d;]*)m/g;

/**
 * Whether a program waits for a message and nothing is typed yet: the cursor is right behind the prompt, followed by nothing but a dim or
 * grey placeholder. A question with choices, a half-typed sentence and a menu do not count.
 */
export function listens({ lines, x, y }: Screen): boolean {
  const { before, behind } = splitAt(lines[y] ?? '', x);
  return prompt.test(before) && behind.trim() === '';
}

/** Whether a person may be in the middle of a message: the cursor is behind text. */
export const isHalfTyped = ({ lines, x, y }: Screen): boolean => /^[\s│|]*[❯›>]\s\S/u.test(plain(lines[y] ?? '').slice(0, x));

/** Whether exactly this text is in the input, not sent yet. Programs show a long paste as a placeholder. */
export function holds({ lines, y }: Screen, text: string): boolean {
  const above = lines.slice(0, y + 1).map(plain);
  const from = above.findLastIndex((line) => typedBehind.test(line));
  if (from === -1) return false;
  const typed = above
    .slice(from)
    .map((line, i) => (i === 0 ? (typedBehind.exec(line)?.[1] ?? '') : line.replaceAll(/^[\s│|]+|[\s│|]+$/gu, '')));
  const shown = bare(typed.join(''));
  return shown !== '' && (shown === bare(text) || pastedMark.test(typed.join(' ').trim()));
}

const typedBehind = /^[\s│|]*[❯›>]\s(.*?)[\s│|]*$/u;
const pastedMark = /^\[Pasted (?:text|content)[^\]]*\]$/i;
const plain = (line: string): string => line.replaceAll(style, '');

/** The text of a line before and behind a column, the latter without its dim or grey parts. */
function splitAt(line: string, column: number): { before: string; behind: string } {
  let [before, behind] = ['', ''];
  let at = 0;
  let isFaint = false;
  const take = (text: string): void => {
    for (const char of text) {
      if (at++ < column) before += char;
      else if (!isFaint) behind += char;
    }
  };
  let end = 0;
  for (const found of line.matchAll(style)) {
    take(line.slice(end, found.index));
    end = found.index + found[0].length;
    isFaint = faintAfter(isFaint, found[1] ?? '');
  }
  take(line.slice(end));
  // tmux omits spaces at the end of a line.
  return { before: before.padEnd(column), behind };
}

/** 0 or an empty code resets the style; 39 is the default colour, 38 introduces another one. */
function faintAfter(isFaint: boolean, codes: string): boolean {
  const parts = codes.split(';').map(Number);
  let now = isFaint;
  for (let at = 0; at < parts.length; at++) {
    const code = parts[at] ?? 0;
    if (code === 0 || code === 22 || code === 39) now = false;
    else if (code === 2) now = true;
    else if (code === 38 && parts[at + 1] === 5) {
      now = isGrey256(parts[at + 2] ?? 0);
      at += 2;
    } else if (code === 38 && parts[at + 1] === 2) {
      now = isGrey(parts.slice(at + 2, at + 5));
      at += 4;
    } else if (code === 48) at += parts[at + 1] === 2 ? 4 : 2;
  }
  return now;
}

/** The greys of the 256 colours, except the lightest, which are used for normal text on dark backgrounds. */
const isGrey256 = (colour: number): boolean => colour >= 236 && colour <= 250;
const isGrey = ([red = 0, green = 0, blue = 0]: readonly number[]): boolean =>
  Math.max(red, green, blue) - Math.min(red, green, blue) < 16 && red >= 64 && red <= 190;
