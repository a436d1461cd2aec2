import { isRecord } from '@svc/contract/json-value.ts';
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

/** One line of `tmp/<project>/chats/session-*.jsonl` of the Gemini CLI. A message may be repeated with more content. */
export function readGeminiLine(line: Fields): LineFacts {
  const { sessionId, startTime, kind, id, timestamp, type, content, $set } = line;
  if (isRecord($set)) {
    const title = textOf($set['summary']);
    return {
      said: [],
      ...known({ at: timeOf($set['lastUpdated']), title: title === undefined ? undefined : { text: title, given: true } }),
    };
  }
  if (typeof sessionId === 'string')
    return { said: [], ...known({ sessionId, at: timeOf(startTime), isPart: kind === 'subagent' ? true : undefined }) };
  const common = known({ at: timeOf(timestamp) });
  const name = textOf(id);
  if (name === undefined) return { ...common, said: [] };
  if (type === 'user') return { ...common, ...readUser(name, contentText(content)) };
  return type === 'gemini' ? { ...common, ...readAnswer(name, line) } : { ...common, said: [] };
}

function readUser(name: string, text: string): LineFacts {
  if (text === '' || /^\s*<session_context>/.test(text)) return { said: [] };
  return { said: [{ part: `${name}:text`, kind: 'inbound', text }], title: { text, given: false } };
}

function readAnswer(name: string, { content, thoughts, tokens, model, toolCalls }: Fields): LineFacts {
  const said: Said[] = listOf(thoughts).flatMap((thought, i): Said[] => {
    const { subject, description } = fieldsOf(thought);
    const text = [textOf(subject), textOf(description)].filter(Boolean).join(': ');
    return text === '' ? [] : [{ part: `${name}:thought${i}`, kind: 'thinking', text }];
  });
  const text = contentText(content);
  if (text !== '') said.push({ part: `${name}:text`, kind: 'outbound', text });
  for (const call of listOf(toolCalls)) said.push(...readCall(fieldsOf(call)));
  const { input, cached, output, thoughts: thinking } = fieldsOf(tokens);
  const cacheRead = countOf(cached);
  const usage = {
    name,
    input: Math.max(0, countOf(input) - cacheRead),
    output: countOf(output) + countOf(thinking),
    cacheRead,
  };
  return { said, ...known({ model: textOf(model), usage: isRecord(tokens) ? usage : undefined }) };
}

function readCall({ id, name, args, result, status }: Fields): Said[] {
  const call: Said = { part: `call:${String(id)}`, kind: 'tool', text: textOf(name) ?? 'tool', payload: { id, input: args } };
  if (result === undefined || result === null) return [call];
  const text = listOf(result).map(resultText).join('\n');
  return [call, { part: `result:${String(id)}`, kind: 'tool_result', text, payload: { id, ok: status === 'success' } }];
}

function resultText(result: unknown): string {
  const { output, error } = fieldsOf(fieldsOf(fieldsOf(result)['functionResponse'])['response']);
  return textOf(output) ?? textOf(error) ?? '';
}
