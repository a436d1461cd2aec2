import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { GeminiMessage } from './gemini-messages.ts';
import { toEngineEvents, toolPrefixes } from './to-engine-event.ts';

test.each<[string, GeminiMessage, EngineEvent[]]>([
  ['a delta', { type: 'message', role: 'assistant', content: 'a' }, [{ type: 'delta', text: 'a' }]],
  ['what the user said', { type: 'message', role: 'user', content: 'a' }, []],
  [
    "a server's tool",
    { type: 'tool_use', tool_id: '1', tool_name: 'mcp_kit_x_echo', parameters: { text: 'x' } },
    [{ type: 'tool', id: '1', name: 'mcp__kit_x__echo', input: { text: 'x' } }],
  ],
  [
    'a tool of its own',
    { type: 'tool_use', tool_id: '1', tool_name: 'read_file', parameters: {} },
    [{ type: 'tool', id: '1', name: 'read_file', input: {} }],
  ],
  [
    'a tool that came back',
    { type: 'tool_result', tool_id: '1', status: 'success', output: 'y' },
    [{ type: 'tool_result', id: '1', ok: true, output: 'y' }],
  ],
  [
    'a tool that failed without a display',
    { type: 'tool_result', tool_id: '1', status: 'error', error: { type: 't', message: 'no' } },
    [{ type: 'tool_result', id: '1', ok: false, output: 'no' }],
  ],
  [
    'a warning',
    { type: 'error', severity: 'warning', message: 'Loop detected' },
    [{ type: 'notice', code: 'other', message: 'Loop detected' }],
  ],
  ['an error, which the result repeats', { type: 'error', severity: 'error', message: 'x' }, []],
])('%s', (_name, message, events) => {
  expect(toEngineEvents(message, ['kit', 'kit_x'])).toEqual(events);
});

test('ignores unknown messages of a newer program', () => {
  expect(toEngineEvents({ type: 'brand_new' } as unknown as GeminiMessage, [])).toEqual([]);
});

/** As version 0.61 of the program builds it. */
function nameInProgram(server: string, tool: string): string {
  const whole = server.startsWith('mcp_') ? `${server}_${tool}` : `mcp_${server}_${tool}`;
  return whole.length > 63 ? `${whole.slice(0, 30)}...${whole.slice(-30)}` : whole;
}

test('recognizes the tools of a server with any name, and reports them under that name', () => {
  const serverName = fc.stringMatching(/^(mcp_)?[a-z0-9_-]{1,60}$/);
  fc.assert(
    fc.property(serverName, fc.stringMatching(/^\w{1,60}$/), (server, tool) => {
      const name = nameInProgram(server, tool);
      expect(toolPrefixes(server).some((prefix) => name.startsWith(prefix))).toBe(true);
      const [event] = toEngineEvents({ type: 'tool_use', tool_id: '1', tool_name: name, parameters: {} }, [server]);
      expect(event).toMatchObject({ name: expect.stringContaining(`mcp__${server}__`) });
    }),
    {
      examples: [
        ['mcp_files', 'read'],
        ['a'.repeat(60), 'read'],
      ],
    },
  );
});
