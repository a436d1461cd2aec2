import { SSEClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { connect, Signin } from './oauth-client.ts';
import { openToolserver } from './open-toolserver.ts';

const textOf = ({ content }: { content: unknown }) => (content as { text: string }[]).map(({ text }) => text).join('\n');

test('a program registers itself, is approved on the page, and gets an answer', async () => {
  const server = await openToolserver();
  const client = await connect(server, { signin: new Signin(), mode: 'auto' });
  const steps: string[] = [];
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['ask_assistant']);
  const result = await client.callTool(
    { name: 'ask_assistant', arguments: { question: 'how are you?' } },
    { onprogress: ({ message }) => steps.push(message ?? '') },
  );
  expect(textOf(result)).toBe('you asked: how are you?');
  expect(result.structuredContent).toMatchObject({ answer: 'you asked: how are you?' });
  expect(steps[0]).toBe('The question was received.');
  expect(server.core.turns[0]?.envelope).toMatchObject({
    channel: 'toolserver',
    conversation_key: expect.stringMatching(/^toolserver:inst_1:user:client-[0-9a-f]{32}$/),
    sender: { raw_username: 'A probe' },
  });
});

test.each(['auto', undefined] as const)('serves clients of both protocol eras (%s)', async (mode) => {
  const server = await openToolserver();
  const client = await connect(server, { signin: new Signin(), ...(mode !== undefined && { mode }) });
  expect(textOf(await client.callTool({ name: 'ask_assistant', arguments: { question: 'hi' } }))).toBe('you asked: hi');
});

test('serves the legacy transport with one stream per user', async () => {
  const server = await openToolserver();
  const signin = new Signin();
  await connect(server, { signin });
  const authorization = `Bearer ${signin.held!.access_token}`;
  const first = await fetch(`${server.url}/sse`, { headers: { authorization } });
  const reader = first.body!.getReader();
  const { value } = await reader.read();
  const [endpoint = ''] = /\/message\?sessionId=[\w-]+/.exec(Buffer.from(value!).toString()) ?? [];
  const transport = () => new SSEClientTransport(new URL('/sse', server.url), { authProvider: signin });
  const second = await connect(server, { signin, transport });
  expect((await reader.read()).done).toBe(true);
  expect(textOf(await second.callTool({ name: 'ask_assistant', arguments: { question: 'two' } }))).toBe('you asked: two');
  const late = await fetch(new URL(endpoint, server.url), {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  expect(late.status).toBe(403);
  await second.close();
});

test('shows a message to a user on their stream, or with their next answer', async () => {
  const server = await openToolserver();
  const signin = new Signin();
  const client = await connect(server, { signin });
  const [listed] = await server.listed();
  const send = (id: string, text: string, target = listed!.user_id) =>
    server.live().send!({ id, target, kind: 'text', text }, new AbortController().signal);
  await send('m1', 'The train is late.');
  await server.restart();
  await expect(client.readResource({ uri: 'conversation://%zz' })).rejects.toThrow(/not found/i);
  const { contents } = await client.readResource({ uri: 'notes://waiting' });
  expect((contents[0] as { text: string }).text).toContain('The train is late.');
  const answer = await client.callTool({ name: 'ask_assistant', arguments: { question: 'hi' } });
  expect(textOf(answer)).toMatch(/^Messages sent to you in the meantime:\n\(20\d\d-.* UTC\) The train is late\.\nyou asked: hi$/);
  const next = () => client.callTool({ name: 'ask_assistant', arguments: { question: 'and now?' } });
  await expect.poll(async () => textOf(await next())).toBe('you asked: and now?');
  await expect(send('m2', 'hi', 'nobody')).rejects.toThrow('No client of this server speaks for "nobody"');

  const transport = () => new SSEClientTransport(new URL('/sse', server.url), { authProvider: signin });
  const listening = await connect(server, { signin, transport });
  const told = new Promise<unknown>((resolve) => {
    listening.setNotificationHandler('notifications/message', ({ params }) => resolve(params.data));
  });
  await send('m3', 'It is here.');
  expect(await told).toBe('It is here.');
  expect(textOf(await client.callTool({ name: 'ask_assistant', arguments: { question: 'hi' } }))).toBe('you asked: hi');
  await listening.close();
});

test.each([
  { era: 'the new era that asked for nothing', mode: 'auto', meta: {}, withAnswer: true },
  {
    era: 'the new era that wants notices',
    mode: 'auto',
    meta: { 'io.modelcontextprotocol/logLevel': 'info' },
    withAnswer: false,
  },
  { era: 'the old era', mode: undefined, meta: {}, withAnswer: false },
] as const)(
  'shows a message sent during a call to a client of $era at once or with the answer',
  async ({ mode, meta, withAnswer }) => {
    const server = await openToolserver();
    const client = await connect(server, { signin: new Signin(), ...(mode !== undefined && { mode }) });
    const heard: unknown[] = [];
    client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params.data));
    const [listed] = await server.listed();
    server.core.script = async ({ result }) => {
      const message = { id: 'm1', target: listed!.user_id, kind: 'text', text: 'The train is late.' } as const;
      await server.live().send!(message, new AbortController().signal);
      return result({ actions: [{ type: 'reply', text: 'Yes.' }] });
    };
    const answer = await client.callTool({ name: 'ask_assistant', arguments: { question: 'hi' }, _meta: meta });
    expect(textOf(answer).startsWith('Messages sent to you in the meantime:')).toBe(withAnswer);
    expect(heard).toEqual(withAnswer ? [] : ['The train is late.']);
  },
);

test.each(['auto', undefined] as const)('withdraws a cancelled question (%s)', async (mode) => {
  const server = await openToolserver();
  const client = await connect(server, { signin: new Signin(), ...(mode !== undefined && { mode }) });
  const begun = Promise.withResolvers<void>();
  const takenBack = Promise.withResolvers<void>();
  onTestFinished(() => takenBack.resolve());
  server.core.script = async ({ result }) => {
    begun.resolve();
    await takenBack.promise;
    return result({ outcome: 'aborted', actions: [] });
  };
  const stop = new AbortController();
  const asked = client.callTool({ name: 'ask_assistant', arguments: { question: 'a long one' } }, { signal: stop.signal });
  await begun.promise;
  stop.abort();
  await expect(asked).rejects.toThrow();
  const [turn] = server.core.turns;
  await expect.poll(() => server.core.amendments).toMatchObject([{ message_id: turn!.envelope.message_id, text: null }]);
  takenBack.resolve();
});

test('accepts files with a question, and returns refusals as text', async () => {
  const server = await openToolserver();
  const client = await connect(server, { signin: new Signin() });
  const ask = (args: Record<string, unknown>) => client.callTool({ name: 'ask_assistant', arguments: args });
  await ask({
    question: 'see',
    conversation: 'work',
    attachments: [
      { name: 'a.txt', text: 'hello' },
      { name: 'b.bin', data: 'AAEC' },
    ],
  });
  expect(server.saved.map(({ name, content }) => [name, content.toString('hex')])).toEqual([
    ['a.txt', '68656c6c6f'],
    ['b.bin', '000102'],
  ]);
  const [turn] = server.core.turns;
  expect(turn?.envelope.conversation_key).toMatch(/:conversation:work$/);
  expect(turn?.envelope.content.attachments).toHaveLength(2);
  const both = await ask({ question: 'see', attachments: [{ name: 'c', text: 'x', data: 'AA' }] });
  expect([both.isError, textOf(both)]).toEqual([true, 'The attachment "c" needs exactly one of data, text and url.']);
  const inside = await ask({ question: 'see', attachments: [{ name: 'd', url: 'http://127.0.0.1:1/x' }] });
  expect([inside.isError, textOf(inside)]).toEqual([true, expect.stringContaining('https://')]);
  server.core.script = ({ result }) => result({ outcome: 'denied', actions: [{ type: 'reply', text: 'no access' }] });
  const denied = await ask({ question: 'hi' });
  expect([denied.isError, textOf(denied)]).toEqual([true, 'no access']);
});

test('tokens survive a restart of the connector', async () => {
  const server = await openToolserver();
  const signin = new Signin();
  await connect(server, { signin });
  await server.restart();
  const client = await connect(server, { signin });
  expect(textOf(await client.callTool({ name: 'ask_assistant', arguments: { question: 'again' } }))).toBe('you asked: again');
});

test('revoking a client ends its access, its streams and its pending question at once', async () => {
  const server = await openToolserver();
  const signin = new Signin();
  const client = await connect(server, { signin });
  const [listed] = await server.listed();
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  server.core.script = async ({ result }) => {
    begun.resolve();
    await end.promise;
    return result({ actions: [{ type: 'reply', text: 'a secret' }] });
  };
  const authorization = `Bearer ${signin.held!.access_token}`;
  const stream = await fetch(`${server.url}/sse`, { headers: { authorization } });
  const heard = stream.text().catch(() => 'cut');
  const asked = fetch(new URL('/mcp', server.url), {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_assistant","arguments":{"question":"a long one"}}}',
  }).then((response) => response.text());
  const cut = asked.catch(() => 'cut');
  await begun.promise;
  await server.live().call!('', 'revoke', { client_id: listed!.client_id }, new AbortController().signal);
  const { held } = signin;
  const answer = await fetch(new URL('/mcp', server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${held!.access_token}` },
  });
  expect(answer.status).toBe(401);
  expect(await server.listed()).toEqual([]);
  expect(await heard).toBe('cut');
  expect(await cut).toBe('cut');
  await expect.poll(() => server.core.amendments).toMatchObject([{ text: null }]);
  end.resolve();
  void client;
});
