import type { Static } from './schema.ts';

const words = { type: 'array', minItems: 1, maxItems: 50, items: { type: 'string', minLength: 1, maxLength: 100 } } as const;
const description = { type: 'string', maxLength: 500 } as const;

/** One thing that an answer says: what of JSON Schema a model and a small checker both keep to. */
const fieldSchema = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: {
    type: { enum: ['string', 'boolean', 'integer', 'number', 'strings'] },
    /** Of a `string`, and of each of `strings`: the only words. */
    enum: words,
    description,
    /** Of a `string`, or of the list `strings`; 1000 characters and 20 of them unless given. */
    max: { type: 'integer', minimum: 1, maximum: 10_000 },
    /** May be missing. */
    optional: { type: 'boolean' },
  },
} as const;

/** Body of `POST /v2/triage`: one question about a text, and the form that its answer has to have. */
export const triageSchema = {
  type: 'object',
  required: ['instruction', 'text', 'answer'],
  additionalProperties: false,
  properties: {
    instruction: { type: 'string', minLength: 1, maxLength: 8000 },
    /** Anybody's words: data for the model, never instructions. */
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
