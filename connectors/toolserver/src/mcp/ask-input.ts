import { fromJsonSchema, type JsonSchemaType } from '@modelcontextprotocol/server';
import { isRecord } from '@svc/contract/json-value.ts';
import type { Static } from '@svc/contract/schema.ts';

export const maxQuestionChars = 200_000;
export const maxFiles = 8;

const inputSchema = {
  type: 'object',
  required: ['question'],
  additionalProperties: false,
  properties: {
    question: { type: 'string', minLength: 1, maxLength: maxQuestionChars, description: 'What to ask, in full.' },
    conversation: {
      type: 'string',
      pattern: '^[A-Za-z0-9_.-]{1,64}$',
      description: 'Name of a conversation to continue or start. If omitted, your lasting default conversation is used.',
    },
    attachments: {
      type: 'array',
      maxItems: maxFiles,
      description: 'Files that belong to the question.',
      items: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 255 },
          mime: { type: 'string', maxLength: 127 },
          data: { type: 'string', maxLength: 14_000_000, description: 'The bytes, as base64.' },
          text: { type: 'string', maxLength: 2_000_000, description: 'The content of a text file, in place of data.' },
          url: { type: 'string', maxLength: 8_192, description: 'An https address to fetch the file from, in place of data.' },
        },
      },
    },
  },
} as const;

const outputSchema = {
  type: 'object',
  required: ['answer', 'conversation_key', 'usage'],
  properties: {
    answer: { type: 'string' },
    conversation_key: { type: 'string' },
    usage: { type: ['object', 'null'], additionalProperties: true },
  },
} as const;

export type Question = Static<typeof inputSchema>;
export type SentFile = NonNullable<Question['attachments']>[number];

const strict = fromJsonSchema<Question>(inputSchema as unknown as JsonSchemaType)['~standard'];
/** Programs and models send absent arguments as null, or as an empty name. */
export const askInput = { '~standard': { ...strict, validate: (said: unknown) => strict.validate(withoutBlanks(said)) } };
export const askOutput = fromJsonSchema(outputSchema as unknown as JsonSchemaType);

const mayBeBlank = new Set(['conversation', 'mime', 'url']);

function withoutBlanks(said: unknown): unknown {
  if (!isRecord(said)) return said;
  const given = filled(said);
  const { attachments } = given;
  return Array.isArray(attachments)
    ? { ...given, attachments: attachments.map((file: unknown) => (isRecord(file) ? filled(file) : file)) }
    : given;
}

const filled = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== null && !(value === '' && mayBeBlank.has(name))));
