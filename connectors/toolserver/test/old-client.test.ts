import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, test } from 'vitest';
import { approve, Signin } from './oauth-client.ts';
import { openToolserver } from './open-toolserver.ts';

// Most programs are still built on the SDK of before 2026-07-28.
test.each([
  { place: '/mcp', Transport: StreamableHTTPClientTransport },
  { place: '/sse', Transport: SSEClientTransport },
])('the first SDK signs in at $place, asks and receives progress', async ({ place, Transport }) => {
  const server = await openToolserver();
  const heard: (string | undefined)[] = [];
  // The turn ends only once the client has received the progress.
  server.core.script = async ({ handlers, result }) => {
    handlers.onDelta?.('All is ');
    await expect.poll(() => heard).toEqual(['The question was received.', 'All is ']);
    return result({ actions: [{ type: 'reply', text: 'All is well.' }] });
  };
  const signin = new Signin();
  const options = { authProvider: signin as never };
  const first = new Transport(new URL(place, server.url), options);
  await expect(newClient().connect(first as never)).rejects.toThrow(UnauthorizedError);
  const { url } = await approve(server, signin.asked!.href);
  await first.finishAuth(url.searchParams.get('code') ?? '');
  const client = newClient();
  await client.connect(new Transport(new URL(place, server.url), options) as never);

  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['ask_assistant']);
  const asked = { name: 'ask_assistant', arguments: { question: 'how are you?' } };
  const result = await client.callTool(asked, undefined, { onprogress: ({ message }) => heard.push(message) });
  expect(result.content).toEqual([{ type: 'text', text: 'All is well.' }]);
  await client.close();
});

const newClient = () => new Client({ name: 'old', version: '1' });
