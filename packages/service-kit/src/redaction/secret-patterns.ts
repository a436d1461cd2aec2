import { canonicalText } from './canonical-text.ts';
import { encodedForms, longestEncoding, type EncodedForm } from './encoded-forms.ts';
import { listForms } from './list-forms.ts';
import { jsonForms } from './secret-parts.ts';

/** Shorter values would mask ordinary words; the operator gets a warning about them instead. */
export const minimumSecretLength = 8;

/** A text to search for in canonical form, and what else is masked with it. */
export type SecretPattern = {
  text: string;
  /** True when the beginning of the value was read as the end of an escape: such a pattern matches only right after one. */
  isBehindEscape: boolean;
  /** How many units at its beginning are not masked, because every word that begins like it would be held back. */
  skip: number;
  /** How many units after it belong to the value. */
  more: number;
  /** It matches only where it spans at least this many characters of the source. */
  minimumSpan: number;
};

/** The rest of a value after an escape may be shorter than a value, since it matches only together with the escape. */
const leastRemainder = 6;
/** How far an escape may reach into a value. */
const headLength = 32;
/** How many characters of a value's beginning an escape may take. */
const longestEaten = 5;
/** The shortest pattern: this many units distinguish it from ordinary text. */
const leastPattern = 4;
const encodedSkip = 3;
const backwardsSkip = 1;
const listSkip = 1;

/** Texts that, before a value, may form an escape with its first characters. */
const beginnings =
  String.raw`\ \x \x4 \1 \12 \u \u0 \u00 \u004 \U \U0000 \U00000 \U000000 \U0000004 % %4 %u %u0 %u00 %u004 & &a &l &q &# &#4 &#x &#x4`.split(
    ' ',
  );

/** All patterns of a value. Empty for one that is too short. */
export function secretPatterns(value: string): SecretPattern[] {
  if (value.trim().length < minimumSecretLength) return [];
  const backwards = Array.from(value.trim()).toReversed().join('');
  return [
    ...writtenForms(value).flatMap((form) => patternsOf(form, 0)),
    ...patternsOf(backwards, backwardsSkip),
    ...encodedForms(value).map((form) => encodedPattern(form, encodedSkip)),
    ...listPatterns(value),
  ].filter(({ text }) => text.length >= leastPattern);
}

/** The value in every single encoding. Only the beginning of a long one is searched for, and the rest masked with it. */
export const plainPatterns = (value: string): SecretPattern[] =>
  [...writtenForms(value).flatMap(wholePatterns), ...listPatterns(value)]
    .filter(({ text }) => text.length >= leastPattern)
    .map((pattern) => ({ ...pattern, text: pattern.text.slice(0, longestEncoding), more: restOf(pattern) }));

const listPatterns = (value: string): SecretPattern[] => listForms(value).map((form) => encodedPattern(form, listSkip));

const restOf = ({ text, more }: SecretPattern): number => more + Math.max(0, text.length - longestEncoding);

/** Like `plainPatterns`, for undecoded text. */
export const plainLiterals = (value: string): SecretPattern[] => literalPatterns(value, longestEncoding);

/** The value itself: in undecoded text, nothing before it can change how it is read. */
export function literalPatterns(value: string, longest = Number.POSITIVE_INFINITY): SecretPattern[] {
  const text = value.trim().replaceAll(/[+\u00A0]/g, ' ');
  if (text.length < minimumSecretLength || text.length > longest) return [];
  return [{ text, isBehindEscape: false, skip: 0, more: 0, minimumSpan: 0 }];
}

/**
 * The spellings of a value as text: literal, as a JSON number, with plus signs for spaces, with characters that are also
 * UTF-8 bytes when escaped one by one, in both normal forms of Unicode, and without its backslashes.
 */
function writtenForms(value: string): string[] {
  const trimmed = value.trim();
  const forms = [value.trimStart(), trimmed, ...jsonForms(trimmed)];
  if (/^-?\d+(?:\.\d+)?$/.test(trimmed)) forms.push(String(Number(trimmed)));
  if (/[\r\n] /.test(trimmed)) forms.push(trimmed.replaceAll(' ', '+'));
  forms.push(trimmed.replaceAll(/[\u00C2-\u00F4][\u0080-\u00BF]+/g, (chars) => Buffer.from(chars, 'latin1').toString('utf8')));
  forms.push(trimmed.normalize('NFC'), trimmed.normalize('NFD'));
  if (trimmed.includes('\\')) forms.push(trimmed.replaceAll('\\', ''));
  return [...new Set(forms)].filter((form) => form.length >= minimumSecretLength);
}

const patternsOf = (form: string, skip: number): SecretPattern[] =>
  [...wholePatterns(form), ...remainders(form)].map((pattern) => ({ ...pattern, skip }));

function wholePatterns(form: string): SecretPattern[] {
  const { whole, settled } = canonicalText(form);
  const pattern = {
    text: whole,
    isBehindEscape: false,
    skip: 0,
    more: 0,
    minimumSpan: whole.length < minimumSecretLength ? form.length : 0,
  };
  const isOpen = settled !== whole && settled.length >= leastRemainder;
  const patterns = isOpen ? [pattern, { ...pattern, text: settled, more: 1 }] : [pattern];
  // After a line end a tab is read as indentation.
  const untabbed = patterns.map((each) => ({ ...each, text: each.text.replaceAll('\t', '') }));
  return whole.includes('\t') ? [...patterns, ...untabbed] : patterns;
}

function remainders(form: string): SecretPattern[] {
  const { whole } = canonicalText(form);
  const head = form.slice(0, headLength);
  const wholeHead = canonicalText(head).whole;
  const texts = beginnings.map((beginning) => {
    const left = commonEnd(canonicalText(beginning + head).whole, wholeHead);
    return whole.slice(wholeHead.length - left);
  });
  return [...new Set(texts)]
    .filter((text) => text !== whole)
    .map((text) => ({
      text,
      isBehindEscape: true,
      skip: 0,
      more: 0,
      minimumSpan: text.length < leastRemainder ? form.length - longestEaten : 0,
    }))
    .filter(({ text, minimumSpan }) => text.length >= leastRemainder || minimumSpan >= leastRemainder);
}

/** The length of their common suffix. */
function commonEnd(one: string, other: string): number {
  let length = 0;
  while (length < other.length && one.at(-1 - length) === other.at(-1 - length)) length++;
  return length;
}

function encodedPattern({ text, more }: EncodedForm, skip: number): SecretPattern {
  return { text: canonicalText(text).whole, isBehindEscape: false, skip, more, minimumSpan: 0 };
}
