import type { Ask, AskOption } from '@svc/contract/ask.ts';
import type { Question } from '@svc/engine-kit/engine.ts';
import { beginningInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';

/** Of a question: characters of its text and of a label, and options. */
export const askLimits = { text: 4000, label: 100, options: 10 } as const;

const optionId = /^[a-z][a-z0-9_-]{0,31}$/;

/**
 * An engine's question as a channel may show it: masked, of bounded length, well-formed. Null for what is no question: without text or
 * options, with too many, or with two that could be taken for each other.
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

/** So much of a text is read, in lengths of what is shown: blanks take none. */
const mostRead = 4;

/** What is cut says so: half of an order is not what a person says yes to. */
async function show(redactor: Redactor, text: string, max: number): Promise<string> {
  const read = max * mostRead;
  const plain = plainly(await beginningInSlices(redactor, text.toWellFormed(), read));
  return plain.length <= max && text.length <= read ? plain : `${plain.slice(0, max).toWellFormed().trimEnd()} […]`;
}

/** Characters that are not seen, or turn others around, by their number. */
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A person says yes to what they see: nothing hides behind blanks, or turns the rest of the text around. */
const plainly = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(unseen, (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
    .replace(/\n(?:[^\S\n]*\n){3,}/g, '\n\n[…]\n\n')
    .replace(/[^\S\n]{40,}/g, ' […] ');

/** What scripts and programs give is not always what its type says. */
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
