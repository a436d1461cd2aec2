import type { AskOption } from '@svc/contract/ask.ts';

/** Longer texts are not answers. */
const longestAnswer = 200;

/** Abbreviations that people write for these ids. */
const shortFor: Record<string, string> = { y: 'yes', n: 'no' };

/** The option that a text chooses by its number, id or label. Null when it matches none or several. */
export function matchAnswer(options: readonly AskOption[], text: string): AskOption | null {
  if (text.length > longestAnswer) return null;
  const said = toWord(text);
  const byNumber = /^[1-9]\d?$/.test(said) ? options[Number(said) - 1] : undefined;
  const word = shortFor[said] ?? said;
  const meant = options.filter((option) => option === byNumber || option.id === word || toWord(option.label) === said);
  return meant.length === 1 ? (meant[0] ?? null) : null;
}

/** Removes what people add: surrounding blanks, capitals, a full stop. */
const toWord = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[.!)]+$/, '');
