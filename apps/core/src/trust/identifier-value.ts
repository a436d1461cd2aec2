import { channelPattern } from '@svc/contract/envelope.ts';

/** Surfaces whose names ignore case. Everywhere else identifiers are compared exactly: a look-alike is a stranger. */
const caseless = new Set(['email', 'issues']);

const ascii = /^[\x20-\x7e]*$/;
/** Invisible characters, and those that change the direction of text: nobody can tell a value with them from one without. */
const unseen = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The stored form of an identifier's value on a surface. On one that ignores case, a capital becomes its small letter where
 * each is the other's only partner: the Kelvin sign, `ß` and `ı` stay as they are. A value with compatibility characters is
 * left as it is, so it equals nothing but itself.
 */
export function toIdentifierValue(surface: string, value: string): string {
  if (!caseless.has(surface)) return value;
  if (ascii.test(value)) return value.toLowerCase();
  return isCanonical(value) ? Array.from(value, toSmall).join('') : value;
}

function toSmall(letter: string): string {
  const small = letter.toLowerCase();
  return small.toUpperCase() === letter ? small : letter;
}

const isCanonical = (value: string): boolean => value.isWellFormed() && value.normalize('NFKC') === value && !unseen.test(value);

/** Why a value cannot be an identifier: it would never match, or match another sender than it looks like. */
export function identifierProblem(surface: string, value: string): string | null {
  if (value.trim() === '') return 'is blank';
  if (value !== value.trim()) return 'begins or ends with a space';
  if (!value.isWellFormed()) return 'has broken characters';
  if (/\p{Cc}/u.test(value)) return 'has control characters';
  if (unseen.test(value)) return 'has invisible characters';
  const stored = toIdentifierValue(surface, value);
  if (isCanonical(value) && isCanonical(stored)) return null;
  return `has compatibility characters; in its normal form (NFKC) it would be "${stored.normalize('NFKC').slice(0, 200)}"`;
}

/** The look of a value on its surface. Two values with the same look must not belong to two people. */
export function lookOf(surface: string, value: string): string {
  const plain = value.normalize('NFKC');
  return caseless.has(surface) ? foldCase(plain).normalize('NFKC') : plain;
}

/** Folds case as widely as possible: `ß` becomes `ss`, and `ı` becomes `i`. */
export const foldCase = (text: string): string => text.toUpperCase().toLowerCase();

const surfaceForm = new RegExp(channelPattern);

/** Whether an envelope may have this as its channel: on any other surface no sender could be found. */
export const isSurface = (name: unknown): name is string => typeof name === 'string' && surfaceForm.test(name);

/** The form of a principal's key: no two keys may look alike. */
export const principalKeyPattern = '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$';
export const isPrincipalKey = (key: string): boolean => new RegExp(principalKeyPattern).test(key);
