import type { Ask, AskOption } from '@svc/contract/ask.ts';
import type { Question } from '@svc/engine-kit/engine.ts';
import { beginningInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';

/** The limits of a question: characters of its text and of a label, and the number of options. */
export const askLimits = { text: 4000, label: 100, options: 10 } as const;

const optionId = /^[a-z][a-z0-9_-]{0,31}$/;

/**
 * Prepares an engine's question for a channel: masked, of limited length, well-formed. Null for an invalid question: without text or
 * options, with too many, or with two that could be confused.
 */
export async function shapeQuestion(redactor: Redactor, question: Question): Promise<Pick<Ask, 'text' | 'options'> | null> {
  if (!isQuestion(question) || question.options.length > askLimits.options) return null;
  const text = (await show(redactor, question.text, askLimits.text)).trim();
  const options: AskOption[] = [];
  for (const { id, label, style } of question.options) {
    const shown = (await show(redactor, label, askLimits.label)).replace(/\s+/g, ' ').trim();
    options.push({ id, label: shown, ...(style === 'primary' || style === 'danger' ? { style } : {}) });
  }
  return text === '' || !areDistinct(options) ? null : { text, options };
}

/** How much of a text is read, as a multiple of the shown length: blanks are collapsed. */
const mostRead = 4;

/** Marks text that was cut, so that nobody agrees to half of a command unawares. */
async function show(redactor: Redactor, text: string, max: number): Promise<string> {
  const read = max * mostRead;
  const plain = plainly(await beginningInSlices(redactor, text.toWellFormed(), read));
  return plain.length <= max && text.length <= read ? plain : `${plain.slice(0, max).toWellFormed().trimEnd()} […]`;
}

/** Characters that are invisible or change the text direction. */
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A person agrees to what they see, so nothing may hide behind blanks or reverse the rest of the text. */
const plainly = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(unseen, (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
    .replace(/\n(?:[^\S\n]*\n){3,}/g, '\n\n[…]\n\n')
    .replace(/[^\S\n]{40,}/g, ' […] ');

/** Scripts and programs may send data that does not match its type. */
const isQuestion = ({ text, options }: Question): boolean =>
  typeof text === 'string' &&
  Array.isArray(options) &&
  options.length > 0 &&
  options.every(({ id, label }: AskOption) => typeof id === 'string' && optionId.test(id) && typeof label === 'string');

function areDistinct(options: readonly AskOption[]): boolean {
  const labels = options.map(({ label }) => label.toLowerCase());
  return !labels.includes('') && countOf(labels) === options.length && countOf(options.map(({ id }) => id)) === options.length;
}

const countOf = (texts: readonly string[]): number => new Set(texts).size;
