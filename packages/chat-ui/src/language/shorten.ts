/** A text of at most `max` UTF-16 units: a longer one ends with "…" instead, and never in the middle of a character. */
export const shorten = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
