import { SSEClientTransport, StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { connect, Signin } from './oauth-client.ts';
import { openToolserver } from './open-toolserver.ts';

const askedOf = async (client: Client, question: string) => {
  const { content } = await client.callTool({ name: 'ask_assistant', arguments: { question } });
  return (content as { text: string }[]).map(({ text }) => text);
};

test.each([
  ['/mcp', StreamableHTTPClientTransport],
  ['/sse', SSEClientTransport],
])('an answer whose connection broke waits for the next one, and its turn goes on (%s)', async (place, Transport) => {
  const server = await openToolserver();
  const signin = new Signin();
  const transport = () => new Transport(new URL(place, server.url), { authProvider: signin });
  const client = await connect(server, { signin, transport });
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  server.core.script = async ({ result }) => {
    begun.resolve();
    await over.promise;
    return result({ actions: [{ type: 'reply', text: 'It is blue.' }] });
  };
  const lost = askedOf(client, 'which colour?').catch(() => undefined);
  await begun.promise;
  await client.close();
  await lost;
  const [{ user_id: user } = { user_id: '' }] = await server.listed();
  const waiting = async () => JSON.stringify((await server.context.state.get(`note/${user}`)) ?? []);
  // A message waits as soon as the server knows that the connection has ended.
  await expect
    .poll(async () => {
      await server.live().send!({ id: 'm', target: user, kind: 'text', text: 'Hello.' }, new AbortController().signal);
      return waiting();
    })
    .toContain('Hello.');
  over.resolve();
  await expect.poll(waiting).toContain('It is blue.');
  expect(server.core.amendments).toEqual([]);
  const again = await connect(server, { signin, transport });
  const [notes, answer] = await askedOf(again, 'and now?');
  expect(notes).toMatch(/UTC\) The answer to "which colour\?": It is blue\.$/);
  expect(answer).toBe('It is blue.');
  await again.close();
});
