import { canonicalText } from './canonical-text.ts';
import { encodedForms, longestEncoding, type EncodedForm } from './encoded-forms.ts';
import { listForms } from './list-forms.ts';
import { jsonForms } from './secret-parts.ts';

/** Shorter values would blank ordinary words; the operator is warned of them instead. */
export const minimumSecretLength = 8;

/** A text to look for in canonical form, and what else is masked with it. */
export type SecretPattern = {
  text: string;
  /** The beginning of the value was taken for the end of an escape: it is found only right behind one. */
  isBehindEscape: boolean;
  /** So many units at its beginning are not masked: every word would be held back that begins like it. */
  skip: number;
  /** So many units after it belong to it. */
  more: number;
  /** It is found only where it is written in so many characters. */
  minimumSpan: number;
};

/** What is left of a value may be shorter than a value: it is found only together with an escape. */
const leastRemainder = 6;
/** No escape reaches further into a value. */
const headLength = 32;
/** An escape takes no more of a value's beginning. */
const longestEaten = 5;
/** A pattern is no shorter: so many units set what is looked for apart from ordinary text. */
const leastPattern = 4;
const encodedSkip = 3;
const backwardsSkip = 1;
const listSkip = 1;

/** What may stand before a value and, with its first characters, read as an escape. */
const beginnings =
  String.raw`\ \x \x4 \1 \12 \u \u0 \u00 \u004 \U \U0000 \U00000 \U000000 \U0000004 % %4 %u %u0 %u00 %u004 & &a &l &q &# &#4 &#x &#x4`.split(
    ' ',
  );

/** All that a value is looked for as. Empty for one that is too short. */
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

/** The value as it is written in any one encoding; of a long one the beginning is looked for, and the rest masked with it. */
export const plainPatterns = (value: string): SecretPattern[] =>
  [...writtenForms(value).flatMap(wholePatterns), ...listPatterns(value)]
    .filter(({ text }) => text.length >= leastPattern)
    .map((pattern) => ({ ...pattern, text: pattern.text.slice(0, longestEncoding), more: restOf(pattern) }));

const listPatterns = (value: string): SecretPattern[] => listForms(value).map((form) => encodedPattern(form, listSkip));

const restOf = ({ text, more }: SecretPattern): number => more + Math.max(0, text.length - longestEncoding);

/** What `plainPatterns` are for text that is not decoded. */
export const plainLiterals = (value: string): SecretPattern[] => literalPatterns(value, longestEncoding);

/** The value as it is: in text that is not decoded, nothing before it can change how it reads. */
export function literalPatterns(value: string, longest = Number.POSITIVE_INFINITY): SecretPattern[] {
  const text = value.trim().replaceAll(/[+\u00A0]/g, ' ');
  if (text.length < minimumSecretLength || text.length > longest) return [];
  return [{ text, isBehindEscape: false, skip: 0, more: 0, minimumSpan: 0 }];
}

/**
 * The value as text: as it is, as a number that JSON wrote, with plus signs for spaces, with characters that are bytes of
 * UTF-8 too when they are escaped one by one, in both normal forms of Unicode, without its backslashes.
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
  // Behind a line end a tab reads as an indentation.
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

/** How many units at their ends are the same. */
function commonEnd(one: string, other: string): number {
  let length = 0;
  while (length < other.length && one.at(-1 - length) === other.at(-1 - length)) length++;
  return length;
}

function encodedPattern({ text, more }: EncodedForm, skip: number): SecretPattern {
  return { text: canonicalText(text).whole, isBehindEscape: false, skip, more, minimumSpan: 0 };
}
