import type { RouteDoc } from '@svc/connector-kit/http/route-table.ts';
import type { Schema } from '@svc/contract/schema.ts';
import { speechFormats } from '@svc/contract/speech.ts';

/** The documentation of these routes for `/openapi.json`. Requests are validated by `parse-request.ts`, which names the invalid field. */
const text = { type: 'string' } as const satisfies Schema;
const count = { type: 'integer', minimum: 0 } as const satisfies Schema;
const nullable = { type: ['string', 'null'] } as const satisfies Schema;

const messageSchema = {
  type: 'object',
  required: ['role'],
  properties: {
    role: { enum: ['system', 'developer', 'user', 'assistant', 'tool', 'function'] },
    content: {
      oneOf: [
        text,
        { type: 'null' },
        { type: 'array', items: { type: 'object', required: ['type'], properties: { type: text, text } } },
      ],
    },
  },
} as const satisfies Schema;

const requestSchema = {
  type: 'object',
  required: ['messages'],
  properties: {
    model: { type: ['string', 'null'], description: 'Passed to the engine; the answer always names the advertised model' },
    messages: { type: 'array', minItems: 1, maxItems: 10_000, items: messageSchema },
    stream: {
      type: 'boolean',
      description: 'If true, the response is text/event-stream with one chunk per frame, ending with `[DONE]`',
    },
    stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } } },
    n: { const: 1 },
  },
} as const satisfies Schema;

const completionSchema = {
  type: 'object',
  properties: {
    id: text,
    object: { const: 'chat.completion' },
    created: { type: 'integer', description: 'Epoch seconds' },
    model: text,
    choices: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          index: count,
          message: { type: 'object', properties: { role: { const: 'assistant' }, content: text, refusal: { type: 'null' } } },
          finish_reason: { const: 'stop' },
        },
      },
    },
    usage: { type: 'object', properties: { prompt_tokens: count, completion_tokens: count, total_tokens: count } },
  },
} as const satisfies Schema;

const modelSchema = {
  type: 'object',
  properties: { id: text, object: { const: 'model' }, created: { type: 'integer' }, owned_by: text },
} as const satisfies Schema;

const healthSchema = {
  type: 'object',
  required: ['status', 'service'],
  properties: { status: { enum: ['ok', 'degraded'] }, service: text, degraded: { type: 'array', items: text } },
} as const satisfies Schema;

const responseRequestSchema = {
  type: 'object',
  required: ['input'],
  properties: {
    input: { oneOf: [text, { type: 'array', items: { type: 'object' } }] },
    instructions: nullable,
    model: nullable,
    previous_response_id: nullable,
    stream: { type: ['boolean', 'null'] },
    text: { type: 'object' },
  },
} as const satisfies Schema;

const speechSchema = {
  type: 'object',
  required: ['input', 'model', 'voice'],
  properties: {
    input: text,
    model: {
      type: 'string',
      description: 'Model of the speech provider; the advertised model or "default" means the one in the settings',
    },
    voice: { type: 'string', description: 'Voice of the speech provider; "default" means the one in the settings' },
    response_format: { enum: speechFormats },
  },
} as const satisfies Schema;

const transcriptionSchema = { type: 'object', properties: { text } } as const satisfies Schema;

export const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: { message: text, type: text, param: nullable, code: nullable },
    },
  },
} as const satisfies Schema;

export const routeDocs = {
  chatCompletions: { summary: 'Runs one turn', needsKey: true, body: requestSchema, reply: completionSchema },
  responses: { summary: 'Runs one turn (Responses API)', needsKey: true, body: responseRequestSchema },
  models: {
    summary: 'Lists the one advertised model',
    needsKey: true,
    reply: { type: 'object', properties: { object: { const: 'list' }, data: { type: 'array', items: modelSchema } } },
  },
  model: { summary: 'The advertised model', needsKey: true, reply: modelSchema },
  speech: { summary: 'Turns a text into speech', needsKey: true, body: speechSchema },
  transcriptions: {
    summary: 'Transcribes an audio clip, sent as multipart/form-data',
    needsKey: true,
    reply: transcriptionSchema,
  },
  health: { summary: 'Whether callers can be served', reply: healthSchema },
} as const satisfies Record<string, RouteDoc>;
