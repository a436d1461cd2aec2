import { isRecord } from '@svc/contract/json-value.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { refuse } from './completion-error.ts';
import { parseRequest, type ChatRequest } from './parse-request.ts';
import { checkFields, only, refuseTools, type Rules } from './request-fields.ts';

type Fields = Record<string, unknown>;

/** All fields of a request of the Responses API. */
export const responseFields: Rules = {
  input: 'read',
  instructions: 'read',
  model: 'read',
  previous_response_id: 'read',
  stream: 'read',
  text: 'read',

  context_management: 'hint',
  include: 'hint',
  max_output_tokens: 'hint',
  max_tool_calls: 'hint',
  reasoning: 'hint',
  service_tier: 'hint',
  store: 'hint',
  temperature: 'hint',
  top_p: 'hint',
  truncation: 'hint',

  access_programs: 'harmless',
  image: 'harmless',
  metadata: 'harmless',
  parallel_tool_calls: 'harmless',
  prompt_cache_key: 'harmless',
  prompt_cache_options: 'harmless',
  prompt_cache_retention: 'harmless',
  safety_identifier: 'harmless',
  stream_options: 'harmless',
  user: 'harmless',

  background: (value) => only(value === false, 'background', 'a response is returned only on the connection that requested it'),
  conversation: () => only(false, 'conversation', 'use previous_response_id, or the header X-Session-Key'),
  moderation: () => only(false, 'moderation', 'moderation scores are not available'),
  prompt: () => only(false, 'prompt', 'stored prompts are not available'),
  tools: (value, body) => refuseTools('tools', value, body),
  tool_choice: (value) =>
    only(value === 'none' || value === 'auto', 'tool_choice', 'the assistant does not call functions of the caller'),
  top_logprobs: (value) => only(value === 0, 'top_logprobs', 'token probabilities are not available'),
};

/** A request of the Responses API, converted to a chat completion. `previousId`: the response that it continues. */
export type ResponseRequest = { request: ChatRequest; previousId: string | null };

/** Reads a request body. Throws `bad_request` with the `param` in its details. */
export function parseResponseRequest(body: unknown): ResponseRequest {
  if (!isRecord(body)) throw refuse(null, 'The body must be a JSON object.');
  const ignored = checkFields(body, responseFields);
  const { input, instructions, model, stream, text, previous_response_id: previousId } = body;
  if (previousId != null && typeof previousId !== 'string')
    throw refuse('previous_response_id', "'previous_response_id' must be a string.", 'invalid_type');
  if (instructions != null && typeof instructions !== 'string')
    throw refuse('instructions', "'instructions' must be a string.", 'invalid_type');
  // Appended at the end, so that the indexes of the other messages match the caller's.
  const messages = [...toMessages(input), ...(instructions == null ? [] : [{ role: 'system', content: instructions }])];
  const request = inOwnWords(() => parseRequest({ model, stream, messages, response_format: toReplyFormat(text) }));
  return { request: { ...request, ignored }, previousId: previousId ?? null };
}

function toMessages(input: unknown): unknown[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input)) throw refuse('input', "'input' must be a string or an array of items.", 'invalid_type');
  return input.map((item: unknown, index) => toMessage(item, `input[${index}]`));
}

function toMessage(item: unknown, at: string): unknown {
  if (!isRecord(item)) return item;
  const { type = 'message', role, content, name, arguments: given, output } = item;
  if (type === 'message') return { role, content: toContent(content) };
  if (type === 'function_call') return { role: 'assistant', function_call: { name, arguments: given } };
  if (type === 'function_call_output') return { role: 'tool', content: toContent(output) };
  // Reasoning is not read again, as in the original API.
  if (type === 'reasoning') return { role: 'assistant', content: '' };
  throw refuse(`${at}.type`, `'${at}': items of this type are not supported.`, 'unsupported');
}

const toContent = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((part: unknown) => toPart(part)) : content;

function toPart(part: unknown): unknown {
  if (!isRecord(part)) return part;
  const { type, text, image_url: url, file_id: id, file_data, filename } = part;
  if (type === 'input_text' || type === 'output_text') return { type: 'text', text };
  if (type === 'input_image') return { type: 'image_url', image_url: { url } };
  if (type === 'input_file') return { type: 'file', file: { file_id: id, file_data, filename } };
  return part;
}

/** `text.format` has the schema next to its type. */
function toReplyFormat(text: unknown): unknown {
  const format: Fields = isRecord(text) && isRecord(text['format']) ? text['format'] : {};
  if (format['type'] !== 'json_schema') return format['type'] === undefined ? null : format;
  return { type: 'json_schema', json_schema: format };
}

/** Throws the same errors with the field names that the caller used. */
function inOwnWords<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const own = (words: string) =>
      words
        .replaceAll(/\bmessages\b(?=['[]|$)/g, 'input')
        .replaceAll('response_format.json_schema', 'text.format')
        .replaceAll('response_format', 'text.format');
    const { param, ...details } = error.details;
    throw new ServiceError(error.code, own(error.message), {
      status: error.status,
      details: { ...details, param: typeof param === 'string' ? own(param) : param },
    });
  }
}
