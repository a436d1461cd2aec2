import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readLine } from '@svc/service-kit/transcript/read-line.ts';
import type { LineFacts, TranscriptEngine } from '@svc/service-kit/transcript/transcript-line.ts';
import { addLine, newTranscript } from './transcript-row.ts';

/** Written by the real programs, without the lines that hold their manuals. */
const fixture = (engine: TranscriptEngine): LineFacts[] =>
  readFileSync(path.join(import.meta.dirname, '../../test/fixtures/transcripts', `${engine}.jsonl`), 'utf8')
    .split('\n')
    .flatMap((line) => readLine(engine, line) ?? []);

const emptyRow = (engine: TranscriptEngine) =>
  newTranscript({
    file: '/x.jsonl',
    engine,
    engine_session_id: null,
    cwd: null,
    is_whole: 1,
    file_id: '1:1',
  });

const rowOf = (engine: TranscriptEngine, lines = fixture(engine)) => {
  const row = emptyRow(engine);
  for (const facts of lines) addLine(row, facts);
  return row;
};

test.each<[TranscriptEngine, string[][]]>([
  [
    'claude',
    [
      ['inbound', 'USE_TOOL Read {"file_path":"/home/me/project/a.txt"}'],
      ['tool', 'Read', '{"file_path":"/home/me/project/a.txt"}'],
      ['tool_result', '1\thi\n2\t'],
      ['outbound', 'Tool said: 1\thi\n2\t'],
    ],
  ],
  [
    'codex',
    [
      ['inbound', 'USE_TOOL exec_command {"cmd":"cat /home/me/project/a.txt"}'],
      ['tool', 'exec_command', '{"command":"cat /home/me/project/a.txt"}'],
      ['tool_result', expect.stringContaining('\nhi\n')],
      ['outbound', expect.stringContaining('Tool said: ')],
    ],
  ],
  [
    'gemini',
    [
      ['inbound', 'USE_TOOL read_file {"file_path":"/home/me/project/a.txt"}'],
      ['tool', 'read_file', '{"file_path":"/home/me/project/a.txt"}'],
      ['tool_result', 'hi\n'],
      ['outbound', 'Tool said: hi'],
    ],
  ],
])('reads the messages and tools of a %s session, without text that the program added', (engine, expected) => {
  const said = fixture(engine).flatMap((facts) => facts.said);
  expect(
    said.map(({ kind, text, payload }) => [kind, text, ...(kind === 'tool' ? [JSON.stringify(payload?.['input'])] : [])]),
  ).toEqual(expected);
  expect(new Set(said.map(({ part }) => part)).size).toBe(4);
});

test.each<[TranscriptEngine, object]>([
  ['claude', { type: 'assistant', uuid: 'u', message: { content: [{ type: 'thinking', thinking: 'Plan: look' }] } }],
  ['codex', { type: 'response_item', payload: { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Plan: look' }] } }],
  ['gemini', { id: 'i', type: 'gemini', content: '', thoughts: [{ subject: 'Plan', description: 'look' }] }],
])('reads the thinking of a %s session', (engine, line) => {
  expect(readLine(engine, JSON.stringify(line))?.said).toMatchObject([{ kind: 'thinking', text: 'Plan: look' }]);
});

test.each<[TranscriptEngine, string | null, string | null, number]>([
  ['claude', 'claude-opus-5-5', '/home/me/project', 34],
  ['codex', 'scripted-model', '/home/me/project', 34],
  // The folder is in another file, and output includes the tokens of thoughts.
  ['gemini', 'gemini-2.5-pro', null, 44],
])('reads model, folder, title and uncached tokens of a %s session', (engine, model, cwd, output_tokens) => {
  const row = rowOf(engine);
  expect(row).toMatchObject({ model, cwd, input_tokens: 222, output_tokens, is_busy: 0, is_part: 0 });
  expect(row.engine_session_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(row.title).not.toBeNull();
  expect(row.last_at - row.started_at).toBeGreaterThanOrEqual(100);
});

test('the last line of an answer counts its tokens, and one-hour cache writes are counted apart', () => {
  const row = emptyRow('claude');
  const line = (id: string, output_tokens: number) => {
    const cache_creation = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 900 };
    const usage = { input_tokens: 3, output_tokens, cache_creation_input_tokens: 1000, cache_creation };
    return JSON.stringify({ type: 'assistant', uuid: 'u', message: { id, model: 'claude-opus-5-5', content: [], usage } });
  };
  for (const text of [line('a', 1), line('a', 50), line('b', 2), line('b', 2), line('b', 70)])
    addLine(row, readLine('claude', text) ?? { said: [] });
  expect(row).toMatchObject({
    input_tokens: 6,
    output_tokens: 120,
    cache_write_tokens: 2000,
    cache_write_1h_tokens: 1800,
  });
});

test('cache tokens of codex, whether read or written, are not counted as input', () => {
  const total_token_usage = { input_tokens: 100, cached_input_tokens: 30, cache_write_input_tokens: 20, output_tokens: 5 };
  const line = { type: 'event_msg', payload: { type: 'token_count', info: { total_token_usage } } };
  const row = emptyRow('codex');
  addLine(row, readLine('codex', JSON.stringify(line)) ?? { said: [] });
  expect(row).toMatchObject({ input_tokens: 50, cache_read_tokens: 30, cache_write_tokens: 20, output_tokens: 5 });
});

test('a session is busy from its first message until the answer', () => {
  const lines = fixture('claude').filter(({ said }) => said.length > 0);
  expect(lines.map((_line, i) => rowOf('claude', lines.slice(0, i + 1)).is_busy)).toEqual([1, 1, 1, 0]);
});

test('a given title takes precedence over the first words, in any order', () => {
  const row = emptyRow('claude');
  const titles = [
    { type: 'custom-title', customTitle: 'Chosen' },
    { type: 'user', uuid: 'u', message: { content: 'first words' } },
  ];
  for (const line of titles) addLine(row, readLine('claude', JSON.stringify(line)) ?? { said: [] });
  expect(row.title).toBe('Chosen');
});

test.each([
  ['claude', { type: 'user', isMeta: true, uuid: 'u', message: { content: 'a note' } }],
  ['claude', { type: 'user', uuid: 'u', message: { content: '<command-name>/clear</command-name>' } }],
  ['claude', { type: 'user', isSidechain: true, uuid: 'u', message: { content: 'what another agent was asked' } }],
  ['codex', { type: 'response_item', payload: { type: 'message', role: 'user', content: [{ text: '<environment_context>' }] } }],
  ['codex', { type: 'response_item', payload: { type: 'message', role: 'developer', content: [{ text: 'rules' }] } }],
  ['gemini', { id: 'i', type: 'user', content: [{ text: '<session_context>\n' }] }],
  ['gemini', { id: 'i', type: 'info', content: 'a note' }],
] as const)('%s: %j is not a message of a person', (engine, line) => {
  expect(readLine(engine, JSON.stringify(line))?.said).toEqual([]);
});

test('the files of a patch are extracted as paths', () => {
  const input = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n*** Add File: /r/b.ts\n+x\n*** End Patch';
  const line = { type: 'response_item', payload: { type: 'custom_tool_call', name: 'apply_patch', call_id: 'c', input } };
  expect(readLine('codex', JSON.stringify(line))?.said[0]?.payload?.['input']).toMatchObject({ paths: ['src/a.ts', '/r/b.ts'] });
});

test.each(['', '{"type":"user","mess', 'null', '[]', '"x"', '7', '\u0000\u0000'])('ignores %j', (text) => {
  for (const engine of ['claude', 'codex', 'gemini'] as const) expect(readLine(engine, text)).toBeNull();
});

test.each([
  { type: 'user', message: null, uuid: 5, timestamp: 'never', cwd: 7 },
  { type: 'assistant', message: { content: [null, 5, { type: 'tool_use', name: {} }], usage: { input_tokens: -1 } } },
  { type: 'response_item', payload: { type: 'function_call', arguments: '{"a', call_id: {} } },
  { type: 'session_meta', payload: [] },
  { type: 'event_msg', payload: { type: 'token_count', info: null } },
  { sessionId: 5, id: 'x', type: 'gemini', toolCalls: [null], thoughts: 'none', tokens: [] },
  { $set: [] },
])('tolerates a line of another form: %j', (line) => {
  for (const engine of ['claude', 'codex', 'gemini'] as const) {
    const row = emptyRow(engine);
    addLine(row, readLine(engine, JSON.stringify(line)) ?? { said: [] });
    expect(row.input_tokens ?? 0).toBeGreaterThanOrEqual(0);
  }
});
