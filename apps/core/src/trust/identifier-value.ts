/** Surfaces whose names ignore case. Everywhere else an identifier is compared to the letter: a look-alike is a stranger. */
const caseless = new Set(['email', 'issues']);

/** The stored form of an identifier's value on a surface. */
export const toIdentifierValue = (surface: string, value: string): string =>
  caseless.has(surface) ? value.toLowerCase() : value;

/** Why a value can be nobody's identifier: it would never match, or match somebody else than it looks like. */
export function identifierProblem(value: string): string | null {
  if (value.trim() === '') return 'is blank';
  if (value !== value.trim()) return 'begins or ends with a blank';
  if (!value.isWellFormed()) return 'has broken characters';
  return /\p{Cc}/u.test(value) ? 'has control characters' : null;
}

/** What an envelope may have as its channel: on another surface nobody would ever be found. */
export const isSurface = (name: unknown): name is string => typeof name === 'string' && /^[a-z][a-z0-9_-]{0,31}$/.test(name);
