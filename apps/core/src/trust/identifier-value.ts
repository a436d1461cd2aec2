import { channelPattern } from '@svc/contract/envelope.ts';

/** Surfaces whose names ignore case. Everywhere else an identifier is compared to the letter: a look-alike is a stranger. */
const caseless = new Set(['email', 'issues']);

const ascii = /^[\x20-\x7e]*$/;
/** Characters that are not seen, or turn the text around: nobody can tell a value with them from one without. */
const unseen = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The stored form of an identifier's value on a surface. On one that ignores case, a capital becomes its small letter where
 * each is the other's only partner: the Kelvin sign, `ß` or `ı` become nothing else. A value that is written with characters
 * which stand for others is left as it is, so it equals nothing but itself.
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
  if (value !== value.trim()) return 'begins or ends with a blank';
  if (!value.isWellFormed()) return 'has broken characters';
  if (/\p{Cc}/u.test(value)) return 'has control characters';
  if (unseen.test(value)) return 'has characters that are not seen';
  const stored = toIdentifierValue(surface, value);
  if (isCanonical(value) && isCanonical(stored)) return null;
  return `has characters that stand for others; written plainly (NFKC) it would be "${stored.normalize('NFKC').slice(0, 200)}"`;
}

/** What a value can be taken for on its surface. Two values that give the same must not belong to two people. */
export function lookOf(surface: string, value: string): string {
  const plain = value.normalize('NFKC');
  return caseless.has(surface) ? foldCase(plain).normalize('NFKC') : plain;
}

/** Case ignored in every way there is: `ß` is `ss` here, and `ı` is `i`. */
export const foldCase = (text: string): string => text.toUpperCase().toLowerCase();

const surfaceForm = new RegExp(channelPattern);

/** What an envelope may have as its channel: on another surface no sender would ever be found. */
export const isSurface = (name: unknown): name is string => typeof name === 'string' && surfaceForm.test(name);

/** What a principal may be called by: nothing that reads like another. */
export const principalKeyPattern = '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$';
export const isPrincipalKey = (key: string): boolean => new RegExp(principalKeyPattern).test(key);
