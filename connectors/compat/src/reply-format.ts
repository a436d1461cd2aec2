import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { refuse } from './completion-error.ts';
import { compileSchema, type SchemaCheck } from './json-schema.ts';

/** The JSON format that a caller requested: the instructions for the assistant, and the check of an answer. */
export type ReplyFormat = {
  instruction: string;
  /** Returns what is wrong with a value; null when it is valid. */
  fault: SchemaCheck;
};

const maxSchemaChars = 50_000;

/** Reads `response_format`. Null means plain text. @throws ServiceError naming the field */
export function parseReplyFormat(value: unknown): ReplyFormat | null {
  if (value === undefined || value === null) return null;
  const format = isRecord(value) ? value : {};
  if (format['type'] === 'text') return null;
  if (format['type'] === 'json_object') return { instruction: anyObject, fault: (json) => (isRecord(json) ? null : notObject) };
  if (format['type'] === 'json_schema') return parseSchemaFormat(format['json_schema']);
  throw refuse('response_format.type', "'response_format.type' must be text, json_object or json_schema.", 'invalid_value');
}

function parseSchemaFormat(value: unknown): ReplyFormat {
  const { schema, description } = isRecord(value) ? value : {};
  const at = 'response_format.json_schema.schema';
  if (!isRecord(schema)) throw refuse(at, `'${at}' must be a JSON Schema.`, 'invalid_type');
  const text = JSON.stringify(schema);
  if (text.length > maxSchemaChars) throw refuse(at, `'${at}' is longer than ${maxSchemaChars} characters.`, 'too_large');
  const about = typeof description === 'string' ? ` It is for: ${description.slice(0, 2_000)}` : '';
  return {
    instruction: `Reply with one JSON value that is valid for the JSON Schema below, and nothing else: no words around it, no code fence.${about}\n${text}`,
    fault: compileSchema(schema, at),
  };
}

const anyObject = 'Reply with one JSON object and nothing else: no words around it, no code fence.';
const notObject = 'it is not an object';

/**
 * The JSON of an answer, without the code fence that models often add.
 * @throws ServiceError when the caller could not use the answer
 */
export function jsonText(reply: string, { fault }: ReplyFormat): string {
  const text = withoutFence(reply.trim());
  const json = parseJsonOrNull(text);
  const wrong = json === null && text !== 'null' ? 'it is not JSON' : fault(json);
  if (wrong === null) return text;
  throw new ServiceError(
    'upstream',
    `The assistant's answer does not match 'response_format': ${wrong}. Send the request again.`,
    {
      details: { param: 'response_format', code: 'response_format_not_met', final: true },
    },
  );
}

function withoutFence(text: string): string {
  const begin = text.indexOf('\n');
  return begin !== -1 && text.startsWith('```') && text.endsWith('\n```') ? text.slice(begin, -3).trim() : text;
}
