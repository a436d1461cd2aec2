import { randomBytes } from 'node:crypto';
import {
  acceptedContent,
  completable,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type CallToolResult,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

// What the protocol's conformance suite asks for beside one tool: each is described in the suite. It stands in for our own server, so that
// the rest of the stack, HTTP, tokens and streams, is tried with every kind of message.

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const silence = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (said: string) => ({ type: 'text' as const, text: said });
const image = { type: 'image' as const, data: pixel, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, said: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: said },
});
const user = <Content>(content: Content) => ({ role: 'user' as const, content });

const states = createRequestStateCodec({ key: randomBytes(32) });

export function createSuiteServer(): McpServer {
  const server = new McpServer(
    { name: 'suite', version: '1' },
    {
      capabilities: { logging: {}, completions: {} },
      requestState: { verify: states.verify },
    },
  );
  addContentTools(server);
  addInputTools(server);
  addResources(server);
  addPrompts(server);
  return server;
}

function addContentTools(server: McpServer): void {
  const fixed: Record<string, CallToolResult['content']> = {
    test_simple_text: [text('This is a simple text response for testing.')],
    test_image_content: [image],
    test_audio_content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }],
    test_embedded_resource: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    test_multiple_content_types: [
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  };
  for (const [name, content] of Object.entries(fixed)) server.registerTool(name, { description: name }, () => ({ content }));
  server.registerTool('test_error_handling', { description: 'fails' }, () => ({
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  }));
  for (const name of ['test_tool_with_logging', 'test_logging_tool'])
    server.registerTool(name, { description: 'says what it does' }, async ({ mcpReq }) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
        await mcpReq.log('info', data);
      return { content: [text('It was said.')] };
    });
  server.registerTool('test_tool_with_progress', { description: 'says how far it is' }, async ({ mcpReq }) => {
    const { _meta: about } = mcpReq;
    const progressToken = about?.progressToken ?? 0;
    for (const progress of [0, 50, 100])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    return { content: [text('It is done.')] };
  });
}

const form = (message: string, name: string, type: 'string' | 'boolean' = 'string') =>
  inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: { [name]: type === 'string' ? { type: 'string' } : { type: 'boolean' } },
      required: [name],
    },
  });
const question = (said: string, maxTokens: number) => inputRequired.createMessage({ messages: [user(text(said))], maxTokens });

/** Each asks its client for something, and is called again with the answer. */
function addInputTools(server: McpServer): void {
  const ask = (name: string) => `test_input_required_result_${name}`;
  const about = { description: 'asks back' };

  server.registerTool(ask('elicitation'), about, ({ mcpReq }) => {
    const said = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'user_name');
    if (typeof said?.name !== 'string')
      return inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } });
    return { content: [text(`Hello, ${said.name}.`)] };
  });
  server.registerTool(ask('sampling'), about, ({ mcpReq }) => {
    const said = mcpReq.inputResponses?.['capital_question'];
    if (said === undefined)
      return inputRequired({ inputRequests: { capital_question: question('What is the capital of France?', 100) } });
    return { content: [text(JSON.stringify(said))] };
  });
  // Nothing is asked that a client has not said it can answer.
  for (const name of [ask('capabilities'), 'test_missing_capability'])
    server.registerTool(name, about, ({ mcpReq }) =>
      mcpReq.inputResponses?.['said'] === undefined
        ? inputRequired({ inputRequests: { said: question('Say something', 10) } })
        : { content: [text('It was said.')] },
    );
  server.registerTool('test_streaming_elicitation', about, ({ mcpReq }) =>
    mcpReq.inputResponses?.['said'] === undefined
      ? inputRequired({ inputRequests: { said: form('Say something', 'words') } })
      : { content: [text('It was said.')] },
  );
  server.registerTool(ask('list_roots'), about, ({ mcpReq }) => {
    const said = mcpReq.inputResponses?.['client_roots'];
    if (said === undefined) return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    return { content: [text(JSON.stringify(said))] };
  });
  for (const name of ['request_state', 'tampered_state'])
    server.registerTool(ask(name), about, async ({ mcpReq }) => {
      if (mcpReq.inputResponses?.['confirm'] !== undefined && mcpReq.requestState?.() === 'asked')
        return { content: [text('state-ok')] };
      return inputRequired({
        inputRequests: { confirm: form('Please confirm', 'ok', 'boolean') },
        requestState: await states.mint('asked'),
      });
    });
  server.registerTool(ask('multiple_inputs'), about, async ({ mcpReq }) => {
    const said = mcpReq.inputResponses ?? {};
    if (['user_name', 'greeting', 'client_roots'].every((key) => key in said)) return { content: [text('All is there.')] };
    const inputRequests = {
      user_name: form('What is your name?', 'name'),
      greeting: question('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    };
    return inputRequired({ inputRequests, requestState: await states.mint('asked') });
  });
  server.registerTool(ask('multi_round'), about, async ({ mcpReq }) => {
    const round = mcpReq.requestState?.();
    if (round === 'second') return { content: [text('Thank you.')] };
    const next: Record<string, ReturnType<typeof form>> = round === 'first'
      ? { step2: form('Step 2: What is your favorite color?', 'color') }
      : { step1: form('Step 1: What is your name?', 'name') };
    return inputRequired({ inputRequests: next, requestState: await states.mint(round === 'first' ? 'second' : 'first') });
  });
}

function addResources(server: McpServer): void {
  const plain = { mimeType: 'text/plain' };
  server.registerResource('text', 'test://static-text', plain, ({ href: uri }) => ({
    contents: [{ uri, ...plain, text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'image/png', blob: pixel }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const json = { mimeType: 'application/json' };
  server.registerResource('template', template, json, ({ href: uri }, { id }) => ({
    contents: [{ uri, ...json, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }) }],
  }));
}

function addPrompts(server: McpServer): void {
  const about = { description: 'says something' };
  const complete = (begun = '') => ['paris', 'park', 'party'].filter((word) => word.startsWith(begun));
  server.registerPrompt('test_simple_prompt', about, () => ({ messages: [user(text('This is a simple prompt for testing.'))] }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { ...about, argsSchema: z.object({ arg1: completable(z.string(), complete), arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { ...about, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', about, () => ({
    messages: [user(image), user(text('Please analyze the image above.'))],
  }));
  server.registerPrompt('test_input_required_result_prompt', about, ({ mcpReq }) => {
    const said = acceptedContent<{ context: string }>(mcpReq.inputResponses, 'user_context');
    if (said === undefined)
      return inputRequired({ inputRequests: { user_context: form('What context should the prompt use?', 'context') } });
    return { messages: [user(text(said.context))] };
  });
}
