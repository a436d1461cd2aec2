import { expect, test } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { TurnNotification } from './codex-messages.ts';
import { toEngineEvents } from './to-engine-event.ts';

const shell = { type: 'commandExecution', id: 'c', command: 'ls', cwd: '/w', aggregatedOutput: 'a\n' } as const;
const call = { type: 'mcpToolCall', id: 'm', server: 'kit', tool: 'echo', arguments: { text: 'x' } } as const;

test.each<[string, TurnNotification, EngineEvent[]]>([
  ['a delta', { method: 'item/agentMessage/delta', params: { delta: 'a' } }, [{ type: 'delta', text: 'a' }]],
  [
    'a message',
    { method: 'item/completed', params: { item: { type: 'agentMessage', id: '1', text: 'ab' } } },
    [{ type: 'segment', text: 'ab' }],
  ],
  ['a thought', { method: 'item/reasoning/summaryTextDelta', params: { delta: 'hm' } }, [{ type: 'thinking', text: 'hm' }]],
  [
    'a command that starts',
    { method: 'item/started', params: { item: { ...shell, status: 'inProgress', exitCode: null } } },
    [{ type: 'tool', id: 'c', name: 'shell', input: { command: 'ls', cwd: '/w' } }],
  ],
  [
    'a command that failed',
    { method: 'item/completed', params: { item: { ...shell, status: 'completed', exitCode: 2 } } },
    [{ type: 'tool_result', id: 'c', ok: false, output: 'a\n' }],
  ],
  [
    'a tool call that starts',
    { method: 'item/started', params: { item: { ...call, status: 'inProgress', result: null, error: null } } },
    [{ type: 'tool', id: 'm', name: 'mcp__kit__echo', input: { text: 'x' } }],
  ],
  [
    'a tool call that came back',
    {
      method: 'item/completed',
      params: { item: { ...call, status: 'completed', result: { content: [{ type: 'text', text: 'y' }] }, error: null } },
    },
    [{ type: 'tool_result', id: 'm', ok: true, output: 'y' }],
  ],
  [
    'a request that is tried again',
    { method: 'error', params: { error: { message: 'Reconnecting', codexErrorInfo: null }, willRetry: true } },
    [{ type: 'notice', code: 'retry', message: 'Reconnecting' }],
  ],
  [
    'an error that ends the turn, which says so itself',
    { method: 'error', params: { error: { message: 'x', codexErrorInfo: null }, willRetry: false } },
    [],
  ],
])('%s', (_name, notification, events) => {
  expect(toEngineEvents(notification)).toEqual(events);
});

test('ignores unknown messages of a newer codex', () => {
  expect(
    toEngineEvents({ method: 'item/started', params: { item: { type: 'sleep', id: '1' } } } as unknown as TurnNotification),
  ).toEqual([]);
  expect(toEngineEvents({ method: 'thread/brandNew', params: {} } as unknown as TurnNotification)).toEqual([]);
});
