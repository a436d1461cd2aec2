/**
 * The text to type so that a program takes exactly these words, as a message. Line breaks and tabs stay; other control characters are
 * removed. Programs execute text that begins with a sign (`!ls` for a shell, `/quit`) and single words that end them, so a heading line
 * goes before those. A space after the last word closes the list that a name with a sign opens (`@file`, `$skill`), in which Enter would
 * select an entry.
 */
export function asTyped(text: string): string {
  const shown = text.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]|[\u2028\u2029]/gu, '');
  const message = isCommand.test(shown) ? `${heading}\n${shown}` : shown;
  return endsInName.test(message) ? `${message} ` : message;
}

/** A text without white space, which a program may change. */
export const bare = (text: string): string => text.replaceAll(/\s/g, '');

/** The same heading with which a session's channels pass such a message to its engine. */
const heading = '[steering from the operator]';
const isCommand = /^\s*(?:[^\p{L}\p{N}\s["'“„«(]|(?:exit|quit|logout|bye)\s*$)/iu;
const endsInName = /(?:^|\s)[@$/#!&:][^\s]*$/u;
