/** Surfaces whose names ignore case. Everywhere else an identifier is compared to the letter: a look-alike is a stranger. */
const caseless = new Set(['email', 'issues']);

/** The stored form of an identifier's value on a surface. */
export const toIdentifierValue = (surface: string, value: string): string =>
  caseless.has(surface) ? value.toLowerCase() : value;
