import type { PriorMessage } from '@svc/contract/envelope.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { refuse } from './completion-error.ts';
import { parseFilePart, type FilePart } from './file-parts.ts';

export type ChatMessage = PriorMessage & {
  /** Images and other files; missing when there are none. */
  files?: FilePart[];
};

export type ParsedMessage = { role: ChatMessage['role'] | 'system'; text: string; files?: FilePart[] };

const roles: Record<string, ChatMessage['role'] | 'system'> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** Parses one message into its role, plain text and files. `at` is its position in the request, for errors. */
export function parseMessage(item: unknown, at: string): ParsedMessage {
  if (!isRecord(item)) throw refuse(at, `'${at}' must be an object.`);
  const { role, content, tool_calls: toolCalls, function_call: functionCall } = item;
  const known = typeof role === 'string' && Object.hasOwn(roles, role) ? roles[role] : undefined;
  if (known === undefined)
    throw refuse(`${at}.role`, `'${at}.role' must be one of ${Object.keys(roles).join(', ')}.`, 'invalid_value');
  const files: FilePart[] = [];
  const text = contentText(content, `${at}.content`, known === 'user' ? files : null);
  if (known !== 'assistant') return files.length === 0 ? { role: known, text } : { role: known, text, files };
  const calls = [...(Array.isArray(toolCalls) ? toolCalls : []), functionCall].map(callText);
  return { role: known, text: [text, ...calls].filter((part) => part !== '').join('\n') };
}

/** Adds the files of its parts to `files`; null where files are not allowed. */
function contentText(content: unknown, at: string, files: FilePart[] | null): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) throw refuse(at, `'${at}' must be a string or an array of parts.`, 'invalid_type');
  return content.map((part: unknown, index) => partText(part, `${at}[${index}]`, files)).join('');
}

function partText(part: unknown, at: string, files: FilePart[] | null): string {
  const fields = fieldsOf(part);
  const { type, text, refusal } = fields;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'refusal' && typeof refusal === 'string') return refusal;
  if (type === 'text') throw refuse(`${at}.text`, `'${at}.text' must be a string.`, 'invalid_type');
  const file = files === null ? null : parseFilePart(fields, at);
  if (file === null) throw refuse(at, `'${at}': parts of this type are not supported.`, 'unsupported');
  files?.push(file);
  // Keeps the file's position in the text, which shows the file that the words refer to.
  return `[${file.name}]`;
}

/** A tool call of an earlier answer, as readable text for the transcript. */
function callText(call: unknown): string {
  const { name, arguments: input } = fieldsOf(fieldsOf(call)['function'] ?? call);
  return typeof name === 'string' ? `[called ${name}(${typeof input === 'string' ? input : ''})]` : '';
}

const fieldsOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
