/**
 * What is typed so that a program takes just these words, and as a message. Line breaks and tabs stay; whatever else would be a key is left out. Programs run
 * what begins with a sign (`!ls` in a shell, `/quit`) and single words that end them, so that a line stands before those; a space behind the last word closes
 * the list that a name with a sign opens (`@file`, `$skill`), in which Enter would choose.
 */
export function asTyped(text: string): string {
  const shown = text.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]|[\u2028\u2029]/gu, '');
  const message = isCommand.test(shown) ? `${heading}\n${shown}` : shown;
  return endsInName.test(message) ? `${message} ` : message;
}

/** A text without spaces and line breaks, which a program may change. */
export const bare = (text: string): string => text.replaceAll(/\s/g, '');

/** As the channels of a session say it to its engine. */
const heading = '[steering from the operator]';
const isCommand = /^\s*(?:[^\p{L}\p{N}\s["'“„«(]|(?:exit|quit|logout|bye)\s*$)/iu;
const endsInName = /(?:^|\s)[@$/#!&:][^\s]*$/u;
