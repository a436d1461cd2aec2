import { afterEach, describe, expect, test } from 'vitest';
import { createGate } from './gate.ts';
import { startModelServer, type ModelServer } from './start-model-server.ts';

let server: ModelServer;
afterEach(() => server.close());

const post = (path: string, body: object) =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
    body: JSON.stringify(body),
  });

const ask = (text: string, extra: object = {}) =>
  post('/v1/messages', { model: 'm', stream: true, messages: [{ role: 'user', content: text }], ...extra });

describe('model server', () => {
  test('streams a Messages reply block by block, and records the request without the key', async () => {
    server = await startModelServer();
    server.script([{ steps: [{ thinking: ['a', 'b'] }, { text: ['x ', 'y'] }] }]);
    const body = await (await ask('hi')).text();
    expect(body.match(/"thinking_delta"/g)).toHaveLength(2);
    expect(body.match(/"text_delta"/g)).toHaveLength(2);
    expect(body).toContain('"stop_reason":"end_turn"');
    expect(server.requests).toMatchObject([{ api: 'messages', userText: 'hi', auth: 'Bearer' }]);
    expect(server.requests[0]?.headerNames).toContain('authorization');
  });

  test('calls an offered tool by pattern, also in a namespace, and passes its result to the script', async () => {
    server = await startModelServer();
    server.script((request) =>
      request.toolResults.length > 0
        ? { steps: [{ text: request.toolResults.join() }] }
        : { steps: [{ tool: /kit__echo/, input: { a: 1 } }] },
    );
    const tools = [{ type: 'namespace', name: 'kit', tools: [{ type: 'function', name: 'echo' }] }];
    const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] };
    const call = await (await post('/v1/responses', { model: 'm', stream: true, input: [user], tools })).text();
    expect(call).toContain('"namespace":"kit"');
    const output = { type: 'function_call_output', call_id: 'c', output: 'out!' };
    expect(await (await post('/v1/responses', { model: 'm', stream: true, input: [user, output] })).text()).toContain('out!');
  });

  describe('Gemini API', () => {
    const context = '<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n</session_context>';
    const body = (...more: object[]) => ({
      contents: [{ parts: [{ text: context }, { text: 'go' }], role: 'user' }, ...more],
      systemInstruction: { parts: [{ text: 'You are an agent.' }], role: 'user' },
      tools: [{ functionDeclarations: [{ name: 'read_file' }, { name: 'mcp_kit_echo' }] }],
      generationConfig: { temperature: 1, thinkingConfig: { includeThoughts: true } },
    });
    const call = (operation: string, content: object) => post(`/v1beta/models/gemini-x:${operation}`, content);

    test('streams parts, marks thoughts, and ends with the token counts', async () => {
      server = await startModelServer();
      server.script([{ steps: [{ thinking: ['a', 'b'] }, { text: ['x ', 'y'] }] }]);
      const answer = await (await call('streamGenerateContent?alt=sse', body())).text();
      expect(answer.match(/"thought":true/g)).toHaveLength(2);
      expect(answer.trim().split('\n\n').at(-1)).toMatch(/^data: .*"finishReason":"STOP".*"thoughtsTokenCount":5/);
      expect(server.requests).toMatchObject([
        { api: 'google', model: 'gemini-x', stream: true, userText: 'go', systemText: 'You are an agent.', toolResults: [] },
      ]);
    });

    test('calls a tool, and passes its result or error to the script', async () => {
      server = await startModelServer();
      server.script((request) =>
        request.toolResults.length > 0
          ? { steps: [{ text: request.toolResults.join() }] }
          : { steps: [{ tool: /echo/, input: { a: 1 } }] },
      );
      const whole = await (await call('generateContent', body())).text();
      expect(whole).toContain('"functionCall":{"id"');
      const results = [{ output: 'out!' }, { error: 'no!' }].map((response) => ({ functionResponse: { name: 'x', response } }));
      const next = await call('streamGenerateContent', body({ role: 'model', parts: [] }, { role: 'user', parts: results }));
      expect(await next.text()).toContain('out!,no!');
    });

    test("returns errors in Google's format, with the details of the script", async () => {
      server = await startModelServer();
      server.script([{ status: 429, kind: 'RESOURCE_EXHAUSTED', message: 'limit', details: [{ retryDelay: '9s' }] }]);
      const answer = await call('streamGenerateContent', body());
      expect(await answer.json()).toEqual({
        error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'limit', details: [{ retryDelay: '9s' }] },
      });
    });
  });

  test('a reply waits at a gate until the test opens it', async () => {
    server = await startModelServer();
    const gate = createGate();
    server.script([{ steps: [{ text: ['before ', gate, 'after'] }] }]);
    const answer = ask('hi').then((response) => response.text());
    await gate.reached;
    expect(server.open).toBe(1);
    gate.open();
    expect(await answer).toContain('after');
    expect(server.open).toBe(0);
  });

  test('a strict server rejects tools that are not functions', async () => {
    server = await startModelServer({ strictTools: true });
    const response = await post('/v1/responses', { model: 'm', stream: true, input: 'hi', tools: [{ type: 'web_search' }] });
    expect(response.status).toBe(400);
  });

  test.each([
    ['FAIL429', 429],
    ['FAIL401', 401],
  ])('the keyword %s answers with status %i', async (keyword, status) => {
    server = await startModelServer();
    expect((await ask(`please ${keyword}`)).status).toBe(status);
  });
});
