import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { AnswerField, AnswerForm, AnswerValue, TriageAnswer } from '@svc/contract/triage.ts';

/** An answer that matches its form, or the problem, from which the model can correct it. */
export type ReadAnswer = { answer: TriageAnswer } | { problem: string };

const maxText = 1000;
const maxWords = 20;

/** Parses a model's answer. Fields that the form does not define are dropped; text around the JSON object is ignored. */
export function readAnswer(form: AnswerForm, said: string): ReadAnswer {
  const value = parseJsonOrNull(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1));
  if (!isRecord(value)) return { problem: 'it is not one JSON object' };
  const answer: TriageAnswer = {};
  for (const [name, field] of Object.entries(form)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if ((given === undefined || given === null) && field.optional === true) continue;
    const problem = problemWith(field, given);
    if (problem !== null) return { problem: `"${name}" ${problem}` };
    answer[name] = given as AnswerValue; // matches the field, which was just checked
  }
  return { answer };
}

function problemWith({ type, enum: words, max }: AnswerField, given: unknown): string | null {
  switch (type) {
    case 'boolean':
      return typeof given === 'boolean' ? null : 'has to be true or false';
    case 'integer':
      return Number.isSafeInteger(given) ? null : 'has to be a whole number';
    case 'number':
      return Number.isFinite(given) ? null : 'has to be a number';
    case 'string':
      return problemWithText(given, words, max ?? maxText);
    case 'strings':
      if (!Array.isArray(given)) return 'has to be a list of texts';
      if (given.length > (max ?? maxWords)) return `has more than ${max ?? maxWords} texts`;
      return given.map((one: unknown) => problemWithText(one, words, maxText)).find((problem) => problem !== null) ?? null;
  }
}

function problemWithText(given: unknown, words: readonly string[] | undefined, max: number): string | null {
  if (typeof given !== 'string') return 'has to be a text';
  if (words !== undefined)
    return words.includes(given) ? null : `has to be one of ${words.map((word) => JSON.stringify(word)).join(', ')}`;
  return given.length <= max ? null : `is longer than ${max} characters`;
}

/** The form as a JSON Schema, for the model. */
export function toJsonSchema(form: AnswerForm): object {
  const required = Object.keys(form).filter((name) => form[name]?.optional !== true);
  const properties = Object.fromEntries(Object.entries(form).map(([name, field]) => [name, toProperty(field)]));
  return { type: 'object', required, additionalProperties: false, properties };
}

function toProperty({ type, enum: words, description, max }: AnswerField): object {
  const text = { type: 'string', ...(words !== undefined && { enum: words }) };
  if (type === 'strings') return { type: 'array', items: text, maxItems: max ?? maxWords, description };
  return type === 'string' ? { ...text, maxLength: max ?? maxText, description } : { type, description };
}
