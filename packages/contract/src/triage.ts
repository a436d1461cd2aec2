import type { Static } from './schema.ts';

const words = { type: 'array', minItems: 1, maxItems: 50, items: { type: 'string', minLength: 1, maxLength: 100 } } as const;
const description = { type: 'string', maxLength: 500 } as const;

/** One field of an answer: the part of JSON Schema that both a model and a small validator can follow. */
const fieldSchema = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: {
    type: { enum: ['string', 'boolean', 'integer', 'number', 'strings'] },
    /** The only allowed values of a `string`, or of each of the `strings`. */
    enum: words,
    description,
    /** The limit of a `string` in characters (default 1000), or of the list `strings` in entries (default 20). */
    max: { type: 'integer', minimum: 1, maximum: 10_000 },
    /** May be missing. */
    optional: { type: 'boolean' },
  },
} as const;

/** Body of `POST /v2/triage`: a question about a text, and the required form of the answer. */
export const triageSchema = {
  type: 'object',
  required: ['instruction', 'text', 'answer'],
  additionalProperties: false,
  properties: {
    instruction: { type: 'string', minLength: 1, maxLength: 8000 },
    /** Untrusted text: data for the model, never instructions. */
    text: { type: 'string', maxLength: 100_000 },
    answer: {
      type: 'object',
      minProperties: 1,
      maxProperties: 20,
      propertyNames: { pattern: '^[a-z][a-z0-9_]{0,47}$' },
      additionalProperties: fieldSchema,
    },
  },
} as const;

export type AnswerField = Static<typeof fieldSchema>;
export type AnswerForm = Readonly<Record<string, AnswerField>>;
export type TriageRequest = { instruction: string; text: string; answer: AnswerForm };
export type AnswerValue = string | boolean | number | string[];
export type TriageAnswer = Record<string, AnswerValue>;
export type TriageResult = { ok: true; answer: TriageAnswer };
