import { isRecord } from '@svc/contract/json-value.ts';
import { parseMessage, type ChatMessage } from './parse-message.ts';
import { refuse } from './completion-error.ts';
import { maxFiles, type FilePart } from './file-parts.ts';
import { parseReplyFormat, type ReplyFormat } from './reply-format.ts';
import { checkFields } from './request-fields.ts';
import { parseStop } from './stop-text.ts';

/** A parsed chat-completions request. */
export type ChatRequest = {
  model: string | null;
  stream: boolean;
  includeUsage: boolean;
  /** Fields that have no effect, although the caller may expect one. */
  ignored: string[];
  /** Texts at which the answer ends. */
  stops: string[];
  /** The JSON format of the answer; null for plain text. */
  format: ReplyFormat | null;
  /** System and developer messages, joined; empty when there are none. */
  system: string;
  /** All other messages, in order. */
  messages: ChatMessage[];
  firstUserText: string;
  /** Index of the latest user message in `messages`. */
  latest: number;
  /** True when a message has an image or another file. */
  hasFiles: boolean;
};

const maxMessages = 10_000;
const maxTextChars = 1_000_000;
const maxSystemChars = 200_000;

/** Reads a request body. Throws `bad_request` with the `param` in its details; the names of unknown fields are returned as ignored. */
export function parseRequest(body: unknown): ChatRequest {
  if (!isRecord(body)) throw refuse(null, 'The body must be a JSON object.');
  const { messages, model, stream, stream_options: streamOptions } = body;
  if (model !== undefined && model !== null && typeof model !== 'string') throw refuse('model', "'model' must be a string.");
  const ignored = checkFields(body);
  const format = parseReplyFormat(body['response_format']);
  return {
    model: model ?? null,
    stream: flag(stream, 'stream'),
    includeUsage: isRecord(streamOptions) && flag(streamOptions['include_usage'], 'stream_options.include_usage'),
    ignored,
    stops: parseStop(body['stop']),
    format,
    ...parseMessages(messages, format),
  };
}

function parseMessages(
  list: unknown,
  format: ReplyFormat | null,
): Pick<ChatRequest, 'system' | 'messages' | 'firstUserText' | 'latest' | 'hasFiles'> {
  if (!Array.isArray(list)) throw refuse('messages', "'messages' is a required property and must be an array.");
  if (list.length === 0) throw refuse('messages', "'messages' must contain at least one message.", 'empty_array');
  if (list.length > maxMessages)
    throw refuse('messages', `'messages' must contain at most ${maxMessages} messages.`, 'array_above_max_length');

  const messages: ChatMessage[] = [];
  const system: string[] = [];
  list.forEach((item: unknown, index) => {
    const { role, ...message } = parseMessage(item, `messages[${index}]`);
    if (role === 'system') system.push(message.text);
    else messages.push({ role, ...message });
  });
  if (format !== null) system.push(format.instruction);
  return checked(system.join('\n\n'), messages);
}

function checked(system: string, messages: ChatMessage[]) {
  const latest = messages.findLastIndex(isFromUser);
  const text = messages[latest]?.text;
  if (text === undefined) throw refuse('messages', "'messages' must contain a message with the role 'user'.");
  if (text.trim() === '') throw refuse('messages', 'The latest user message has no text.');
  if (text.length > maxTextChars) throw tooLong('latest user message is', maxTextChars);
  if (system.length > maxSystemChars) throw tooLong('system messages are', maxSystemChars);
  const { length: count } = messages[latest]?.files ?? [];
  if (count > maxFiles)
    throw refuse('messages', `The latest user message must have at most ${maxFiles} files.`, 'array_above_max_length');
  return {
    system,
    messages,
    firstUserText: messages.find(isFromUser)?.text ?? text,
    latest,
    hasFiles: messages.some(({ files }) => files !== undefined),
  };
}

const isFromUser = (message: ChatMessage) => message.role === 'user';

const tooLong = (what: string, limit: number) =>
  refuse('messages', `The ${what} longer than ${limit} characters.`, 'string_above_max_length');

function flag(value: unknown, param: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw refuse(param, `'${param}' must be true or false.`);
  return value;
}

/**
 * Takes the files that a turn needs out of a request: those of the latest user message and, in an unknown conversation, the newest of the
 * earlier messages as far as there is room. The request is kept until its answer, so no file stays in it: those of all waiting requests
 * would fill the memory.
 */
export function takeFiles({ messages, latest }: Pick<ChatRequest, 'messages' | 'latest'>, isSeen: boolean): FilePart[] {
  const files = messages.map((message) => message.files ?? []);
  for (const message of messages) delete message.files;
  const own = files[latest] ?? [];
  if (isSeen) return own;
  const others = files.flatMap((list, index) => (index === latest ? [] : list));
  const room = maxFiles - own.length;
  return room === 0 ? own : [...others.slice(-room), ...own];
}
