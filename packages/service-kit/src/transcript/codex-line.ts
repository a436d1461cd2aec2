import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import {
  contentText,
  countOf,
  fieldsOf,
  known,
  listOf,
  textOf,
  timeOf,
  type Fields,
  type LineFacts,
  type Said,
} from './transcript-line.ts';

/** One line of `sessions/YYYY/MM/DD/rollout-*.jsonl` of codex. */
export function readCodexLine({ timestamp, type, payload }: Fields): LineFacts {
  const at = timeOf(timestamp);
  const fields = fieldsOf(payload);
  return { ...known({ at }), ...readPayload(type, fields, at ?? 0) };
}

function readPayload(type: unknown, fields: Fields, at: number): LineFacts {
  switch (type) {
    case 'session_meta':
      return readMeta(fields);
    case 'turn_context':
      return { said: [], ...known({ cwd: textOf(fields['cwd']), model: textOf(fields['model']) }) };
    case 'response_item':
      return readItem(fields, at);
    case 'event_msg':
      return fields['type'] === 'token_count' ? { said: [], ...readTotals(fieldsOf(fields['info'])) } : { said: [] };
    default:
      return { said: [] };
  }
}

/** In a session that another session started, the source is an object. */
function readMeta({ id, cwd, source, originator }: Fields): LineFacts {
  const isInteractive = originator === undefined ? undefined : originator !== 'codex_exec';
  const isPart = isRecord(source) ? true : undefined;
  return { said: [], ...known({ sessionId: textOf(id), cwd: textOf(cwd), isInteractive, isPart }) };
}

function readItem(item: Fields, at: number): LineFacts {
  switch (item['type']) {
    case 'message':
      return readMessage(item, at);
    case 'reasoning': {
      const text = contentText(item['summary']);
      return { said: text === '' ? [] : [{ part: partOf(item, at), kind: 'thinking', text }] };
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
      return { said: [readCall(item, at)] };
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { call_id, output } = item;
      const text = typeof output === 'string' ? output : contentText(fieldsOf(output)['content'] ?? output);
      return { said: [{ part: `result:${String(call_id)}`, kind: 'tool_result', text, payload: { id: call_id } }] };
    }
    default:
      return { said: [] };
  }
}

/** Texts that the program inserts itself: the environment, the instructions of the project. */
const ownWords = /^\s*(?:<[a-z_]+[\s>]|# AGENTS\.md)/;

function readMessage(item: Fields, at: number): LineFacts {
  const { role, content, internal_chat_message_metadata_passthrough: metadata } = item;
  const text = contentText(content);
  if (text === '' || (role !== 'user' && role !== 'assistant')) return { said: [] };
  const said: Said = { part: partOf(item, at), kind: role === 'user' ? 'inbound' : 'outbound', text };
  if (role === 'assistant') return { said: [said] };
  const kinds = listOf(fieldsOf(metadata)['content_item_kinds']);
  const isOwn = kinds.length > 0 ? !kinds.includes('user.text') : ownWords.test(text);
  return isOwn ? { said: [] } : { said: [said], title: { text, given: false } };
}

function readCall(item: Fields, at: number): Said {
  const { name, call_id, arguments: argument, input, action } = item;
  const id = textOf(call_id) ?? partOf(item, at);
  const given = isRecord(action) ? action : (parsed(argument ?? input) ?? input ?? argument);
  return { part: `call:${id}`, kind: 'tool', text: textOf(name) ?? 'shell', payload: { id, input: toolInput(given) } };
}

/** Commands and patches, in the terms that other engines use. */
function toolInput(given: unknown): unknown {
  if (typeof given === 'string') return { patch: given, paths: [...given.matchAll(patchedFile)].map(([, file]) => file) };
  const { cmd, workdir, ...rest } = fieldsOf(given);
  return { ...rest, ...known({ command: cmd ?? rest['command'], cwd: workdir ?? rest['cwd'] }) };
}

const patchedFile = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

/** Undefined for a patch, or a call that was cut short. */
function parsed(text: unknown): Fields | undefined {
  const value = parseJsonOrNull(String(text));
  return isRecord(value) ? value : undefined;
}

/** Older versions have ids for calls only. */
const partOf = ({ id, role, type }: Fields, at: number): string => textOf(id) ?? `${String(role ?? type)}@${at}`;

function readTotals({ total_token_usage }: Fields): Pick<LineFacts, 'totals'> {
  if (!isRecord(total_token_usage)) return {};
  const { input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens } = total_token_usage;
  const [cacheRead, cacheWrite] = [countOf(cached_input_tokens), countOf(cache_write_input_tokens)];
  const input = Math.max(0, countOf(input_tokens) - cacheRead - cacheWrite);
  return { totals: { input, output: countOf(output_tokens), cacheRead, cacheWrite } };
}
