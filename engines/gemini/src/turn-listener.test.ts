import { describe, expect, test } from 'vitest';
import type { EngineEvent, ToolServer } from '@svc/engine-kit/engine.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { createTurnListener, type TurnListener } from './turn-listener.ts';

const stats = { total_tokens: 188, input_tokens: 166, output_tokens: 17, cached: 33, input: 133 };
const says = (content: string) => ({ type: 'message', role: 'assistant', content });
const server = (name: string): ToolServer => ({ name, type: 'http', url: 'http://x', headers: {}, safe: true });
const asking = (...tools: string[]) =>
  Buffer.from(JSON.stringify({ contents: [], tools: [{ functionDeclarations: tools.map((name) => ({ name })) }] }));

function open(fields: { isNew?: boolean; toolServers?: ToolServer[] } = {}) {
  const controller = new AbortController();
  const listener = createTurnListener({
    request: engineRequest({ prompt: 'hi', cwd: '/', toolServers: fields.toolServers ?? [] }),
    sessionId: 'session-1',
    isNew: fields.isNew ?? true,
    signal: controller.signal,
  });
  return { listener, controller };
}

async function all(listener: TurnListener): Promise<EngineEvent[]> {
  const events: EngineEvent[] = [];
  for await (const event of listener.events) events.push(event);
  return events;
}

describe('turn events', () => {
  test('a segment ends when a tool is called, and with the turn', async () => {
    const { listener } = open();
    listener.onMessage({ type: 'init', session_id: 's', model: 'm' });
    for (const text of ['a ', 'b']) listener.onMessage(says(text));
    listener.onMessage({ type: 'tool_use', tool_id: '1', tool_name: 'glob', parameters: {} });
    listener.onMessage({ type: 'tool_result', tool_id: '1', status: 'success', output: 'x' });
    listener.onMessage(says('c'));
    listener.onMessage({ type: 'result', status: 'success', stats });
    listener.onEnd({ code: 0, signal: null }, '');
    const events = await all(listener);
    expect(events.map((event) => event.type)).toEqual([
      'session',
      'delta',
      'segment',
      'tool',
      'tool_result',
      'delta',
      'segment',
      'usage',
      'done',
    ]);
    expect(events).toContainEqual({ type: 'segment', text: 'a b' });
    const usage = { input_tokens: 133, cache_read_tokens: 33, output_tokens: 22, thinking_tokens: 5, estimated: false };
    expect(events.at(-2)).toMatchObject({ type: 'usage', usage });
  });

  test('omits thoughts of an agent within a tool', async () => {
    const { listener } = open();
    listener.onThought('mine');
    listener.onMessage({ type: 'tool_use', tool_id: '1', tool_name: 'invoke_agent', parameters: {} });
    listener.onThought('its own');
    listener.onMessage({ type: 'tool_result', tool_id: '1', status: 'success', output: '' });
    listener.onMessage({ type: 'result', status: 'success', stats });
    expect((await all(listener)).filter(({ type }) => type === 'thinking')).toEqual([{ type: 'thinking', text: 'mine' }]);
  });

  test('a reply that was cut off and repeated is a separate segment', async () => {
    const { listener } = open();
    listener.onRequest(asking());
    listener.onMessage(says('hel'));
    listener.onCut();
    listener.onRequest(asking());
    listener.onMessage(says('hello'));
    listener.onMessage({ type: 'result', status: 'success', stats });
    const events = await all(listener);
    expect(events.filter(({ type }) => type === 'segment')).toEqual([
      { type: 'segment', text: 'hel' },
      { type: 'segment', text: 'hello' },
    ]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'notice', code: 'retry' }));
  });

  test.each(['mcp_files', 'a'.repeat(60)])('recognizes the offered tools of a server named %s', (name) => {
    const { listener } = open({ toolServers: [server(name)] });
    const offered = name.startsWith('mcp_') ? `${name}_read` : `mcp_${name.slice(0, 26)}...${'a'.repeat(25)}_read`;
    listener.onRequest(asking(offered));
    expect(listener.events.state).toBe('open');
    listener.onEnd({ code: 1, signal: null }, '');
    return expect(all(listener).then((events) => events.map(({ type }) => type))).resolves.toEqual(['failed']);
  });

  test('reports a tool server without offered tools as missing, once', async () => {
    const { listener } = open({ toolServers: [server('kit'), server('gone')] });
    listener.onRequest(asking('mcp_kit_echo'));
    listener.onRequest(asking('mcp_kit_echo'));
    listener.onMessage({ type: 'result', status: 'success', stats });
    const notices = (await all(listener)).filter(({ type }) => type === 'notice');
    expect(notices).toMatchObject([{ code: 'tool_server_missing', message: expect.stringContaining('gone') }]);
  });
});

describe('turn end', () => {
  test('explains an error by the last refusal, unless the program recovered from it', async () => {
    const { listener } = open();
    listener.onRefusal({ status: 503, reason: null, message: 'busy' });
    listener.onMessage({ type: 'result', status: 'error', error: { type: 'x', message: 'words' } });
    expect((await all(listener)).at(-1)).toMatchObject({ failure: { code: 'engine_overloaded' } });
    const second = open().listener;
    second.onRefusal({ status: 503, reason: null, message: 'busy' });
    second.onRequest(asking());
    second.onMessage({ type: 'error', severity: 'error', message: 'The model said nothing' });
    second.onMessage({ type: 'result', status: 'error' });
    expect((await all(second)).at(-1)).toMatchObject({ failure: { code: 'engine_failed', message: 'The model said nothing.' } });
  });

  test('a program that ends without a result fails the turn with its last output', async () => {
    const { listener } = open();
    listener.onEnd({ code: 52, signal: null }, 'noise\nError in settings.json.\n');
    expect(await all(listener)).toMatchObject([
      { type: 'failed', failure: { message: 'Gemini ended unexpectedly, with code 52: Error in settings.json. Try again.' } },
    ]);
  });

  test.each([
    { type: 'message', role: 'assistant' },
    { type: 'tool_use', tool_id: '1' },
  ])('an invalid message such as %o fails the turn, not the process', async (line) => {
    const { listener } = open({ toolServers: [server('kit')] });
    listener.onMessage(line);
    expect((await all(listener)).at(-1)).toMatchObject({ type: 'failed', failure: { code: 'engine_crashed' } });
  });

  test('is aborted after an abort, with estimated usage', async () => {
    const { listener, controller } = open();
    listener.onMessage(says('a'));
    controller.abort();
    listener.onEnd({ code: 0, signal: null }, '');
    const types = (await all(listener)).map(({ type }) => type);
    expect(types).toEqual(['delta', 'segment', 'usage', 'aborted']);
  });

  test.each(['Invalid session identifier "x".', 'No previous sessions found for this project.'])(
    '%j means an unknown session if one was resumed',
    async (words) => {
      const { listener } = open({ isNew: false });
      listener.onEnd({ code: 42, signal: null }, `Error resuming session: ${words}`);
      expect(await all(listener)).toEqual([]);
      expect(listener.outcome).toBe('session_unknown');
      const fresh = open().listener;
      fresh.onEnd({ code: 42, signal: null }, words);
      expect(await all(fresh)).toMatchObject([{ type: 'failed' }]);
    },
  );
});
