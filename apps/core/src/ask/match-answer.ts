import type { AskOption } from '@svc/contract/ask.ts';

/** Longer texts are no answers. */
const longestAnswer = 200;

/** What people write in place of these ids. */
const shortFor: Record<string, string> = { y: 'yes', n: 'no' };

/**
 * The option that this text chooses: by its number, its id or its label. Null where it chooses none of them, or more
 * than one.
 */
export function matchAnswer(options: readonly AskOption[], text: string): AskOption | null {
  if (text.length > longestAnswer) return null;
  const said = toWord(text);
  const byNumber = /^[1-9]\d?$/.test(said) ? options[Number(said) - 1] : undefined;
  const word = shortFor[said] ?? said;
  const meant = options.filter((option) => option === byNumber || option.id === word || toWord(option.label) === said);
  return meant.length === 1 ? (meant[0] ?? null) : null;
}

/** Without what people add: blanks around it, capitals, a full stop. */
const toWord = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[.!)]+$/, '');
