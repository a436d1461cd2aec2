import { expect, test } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { ClaudeMessage } from './claude-messages.ts';
import { missingServers, toEngineEvents } from './to-engine-event.ts';

const main = { parent_tool_use_id: null };
const delta = (text: string) => ({ type: 'content_block_delta', delta: { type: 'text_delta', text } }) as const;

test.each<[string, ClaudeMessage, EngineEvent[]]>([
  ['a delta', { type: 'stream_event', ...main, event: delta('a') }, [{ type: 'delta', text: 'a' }]],
  [
    'a thought',
    { type: 'stream_event', ...main, event: { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'hm' } } },
    [{ type: 'thinking', text: 'hm' }],
  ],
  ['a word of a sub-agent', { type: 'stream_event', parent_tool_use_id: 't', event: delta('inner') }, []],
  [
    'a finished message',
    {
      type: 'assistant',
      ...main,
      message: {
        content: [
          { type: 'text', text: 'ab' },
          { type: 'tool_use', id: 't', name: 'Bash', input: {} },
        ],
      },
    },
    [
      { type: 'segment', text: 'ab' },
      { type: 'tool', id: 't', name: 'Bash', input: {} },
    ],
  ],
  [
    "the SDK's words about a failed request",
    { type: 'assistant', ...main, error: 'rate_limit', message: { content: [{ type: 'text', text: 'API Error' }] } },
    [],
  ],
  [
    'a result of a tool',
    {
      type: 'user',
      ...main,
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'out' }], is_error: true }] },
    },
    [{ type: 'tool_result', id: 't', ok: false, output: 'out' }],
  ],
  [
    'a request that is tried again',
    {
      type: 'system',
      subtype: 'api_retry',
      attempt: 1,
      max_retries: 2,
      retry_delay_ms: 500,
      error_status: 529,
      error: 'overloaded',
    },
    [{ type: 'notice', code: 'retry', message: 'Request 1 of 3 failed (529); trying again.' }],
  ],
])('%s', (_name, message, events) => {
  expect(toEngineEvents(message)).toEqual(events);
});

test('ignores unknown messages of a newer SDK', () => {
  expect(toEngineEvents({ type: 'brand_new' } as unknown as ClaudeMessage)).toEqual([]);
});

test('reports tool servers that are not connected as missing', () => {
  const statuses = { ok: 'connected', kit: 'failed', late: 'pending' };
  const mcp_servers = Object.entries(statuses).map(([name, status]) => ({ name, status }));
  const init = { type: 'system', subtype: 'init', session_id: 's', model: 'm', mcp_servers } as const;
  expect(missingServers(init, ['ok', 'kit', 'late', 'gone'])).toEqual([
    { name: 'kit', why: 'failed' },
    { name: 'late', why: 'pending' },
    { name: 'gone', why: 'unknown to the program' },
  ]);
});
