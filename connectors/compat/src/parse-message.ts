import type { PriorMessage } from '@svc/contract/envelope.ts';
import { refuse } from './completion-error.ts';

export type ChatMessage = PriorMessage;

const roles: Record<string, ChatMessage['role'] | 'system'> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** One message as its role and plain text. `at` is its place in the request, for errors. */
export function parseMessage(item: unknown, at: string): { role: ChatMessage['role'] | 'system'; text: string } {
  if (typeof item !== 'object' || item === null) throw refuse(at, `'${at}' must be an object.`);
  const { role, content, tool_calls: toolCalls, function_call: functionCall } = fieldsOf(item);
  const known = typeof role === 'string' && Object.hasOwn(roles, role) ? roles[role] : undefined;
  if (known === undefined)
    throw refuse(`${at}.role`, `'${at}.role' must be one of ${Object.keys(roles).join(', ')}.`, 'invalid_value');
  const text = contentText(content, `${at}.content`);
  if (known !== 'assistant') return { role: known, text };
  const calls = [...(Array.isArray(toolCalls) ? toolCalls : []), functionCall].map(callText);
  return { role: known, text: [text, ...calls].filter((part) => part !== '').join('\n') };
}

function contentText(content: unknown, at: string): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) throw refuse(at, `'${at}' must be a string or an array of parts.`, 'invalid_type');
  return content.map((part: unknown, index) => partText(part, `${at}[${index}]`)).join('');
}

function partText(part: unknown, at: string): string {
  const { type, text, refusal } = fieldsOf(part);
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'refusal' && typeof refusal === 'string') return refusal;
  if (type === 'text') throw refuse(`${at}.text`, `'${at}.text' must be a string.`, 'invalid_type');
  // Nothing is ever fetched for a caller, so an address in a part is no way into this machine's network.
  throw refuse(at, `'${at}': only parts of the type 'text' are supported here.`, 'unsupported');
}

/** A tool call of an earlier answer, readable in the transcript. */
function callText(call: unknown): string {
  const { name, arguments: input } = fieldsOf(fieldsOf(call)['function'] ?? call);
  return typeof name === 'string' ? `[called ${name}(${typeof input === 'string' ? input : ''})]` : '';
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
