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

/** One line of `projects/<folder>/<session>.jsonl` of Claude Code. */
export function readClaudeLine(line: Fields): LineFacts {
  const { cwd, sessionId, timestamp, entrypoint } = line;
  const source = textOf(entrypoint);
  const common = known({
    sessionId: textOf(sessionId),
    cwd: textOf(cwd),
    at: timeOf(timestamp),
    isInteractive: source === undefined ? undefined : !source.startsWith('sdk'),
  });
  switch (line['type']) {
    case 'user':
      return { ...common, ...readUser(line) };
    case 'assistant':
      return { ...common, ...readAssistant(line) };
    case 'custom-title':
      return { ...common, ...titled(line['customTitle'], true) };
    case 'ai-title':
      return { ...common, ...titled(line['aiTitle'], true) };
    case 'summary':
      return { ...common, ...titled(line['summary'], true) };
    case 'cost-state':
      return { ...common, said: [], totals: totalsOf(fieldsOf(line['modelUsage'])) };
    default:
      return { ...common, said: [] };
  }
}

/** Texts that the program inserts itself: output of commands, notes, reminders. */
const ownWords = /^\s*<(?:command-|local-command-|system-reminder|task-notification|bash-)/;

function readUser({ uuid, message, isMeta, isSidechain, isCompactSummary, cwd }: Fields): LineFacts {
  const { content } = fieldsOf(message);
  const said: Said[] = listOf(content).flatMap((block): Said[] => {
    const { type, tool_use_id, content: output, is_error } = fieldsOf(block);
    if (type !== 'tool_result' || typeof tool_use_id !== 'string') return [];
    const payload = { id: tool_use_id, ok: is_error !== true };
    return [{ part: `result:${tool_use_id}`, kind: 'tool_result', text: contentText(output), payload }];
  });
  const text = contentText(content);
  if (isMeta === true || isSidechain === true || isCompactSummary === true || text === '' || ownWords.test(text)) return { said };
  said.push({ part: `user:${String(uuid)}`, kind: 'inbound', text, payload: known({ cwd: textOf(cwd) }) });
  return { ...titled(text, false), said };
}

function readAssistant({ uuid, message, isSidechain, cwd }: Fields): LineFacts {
  const { id, model, content, usage } = fieldsOf(message);
  const said = listOf(content).flatMap((block, i): Said[] => {
    const { type, text, thinking, name, input, id: call } = fieldsOf(block);
    const part = `${String(uuid)}:${i}`;
    if (type === 'tool_use' && typeof name === 'string')
      return [
        { part: `call:${String(call)}`, kind: 'tool', text: name, payload: { id: call, input, ...known({ cwd: textOf(cwd) }) } },
      ];
    if (isSidechain === true) return [];
    if (type === 'text' && textOf(text) !== undefined) return [{ part, kind: 'outbound', text: String(text) }];
    return type === 'thinking' && textOf(thinking) !== undefined ? [{ part, kind: 'thinking', text: String(thinking) }] : [];
  });
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, cache_creation } = fieldsOf(usage);
  const counts = {
    name: String(id),
    input: countOf(input_tokens),
    output: countOf(output_tokens),
    cacheRead: countOf(cache_read_input_tokens),
    cacheWrite: countOf(cache_creation_input_tokens),
    cacheWrite1h: countOf(fieldsOf(cache_creation)['ephemeral_1h_input_tokens']),
  };
  // The program's own texts, such as errors, have no real model.
  return { said, ...(model === '<synthetic>' ? {} : known({ model: textOf(model), usage: counts })) };
}

function totalsOf(models: Fields): { input: number; output: number } {
  const totals = { input: 0, output: 0 };
  for (const used of Object.values(models)) {
    const { inputTokens, outputTokens } = fieldsOf(used);
    totals.input += countOf(inputTokens);
    totals.output += countOf(outputTokens);
  }
  return totals;
}

function titled(text: unknown, given: boolean): LineFacts {
  const title = textOf(text);
  return title === undefined ? { said: [] } : { said: [], title: { text: title, given } };
}
