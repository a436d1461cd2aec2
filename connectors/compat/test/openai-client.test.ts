import { connect } from 'node:net';
import OpenAI, {
  APIError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CoreError } from '@svc/connector-kit/core-error.ts';
import { annKey, bobKey, startCompat, type RunningCompat } from './start-compat.ts';

const hello = [{ role: 'user' as const, content: 'hello there' }];

describe('official OpenAI client', () => {
  let compat: RunningCompat;
  beforeEach(async () => (compat = await startCompat()));
  afterEach(() => compat.stop());
  const client = (apiKey: string = annKey) => new OpenAI({ baseURL: `${compat.url}/v1`, apiKey, maxRetries: 0 });
  const ask = (messages: OpenAI.ChatCompletionMessageParam[] = hello, options?: OpenAI.RequestOptions) =>
    client().chat.completions.create({ model: 'svc', messages }, options);
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${compat.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${annKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const fault = (code: ConstructorParameters<typeof CoreError>[0], more: object = {}) =>
    new CoreError(code, 'The engine is out.', { mayHaveRun: true, ...more });

  test('lists the only model and retrieves it by its id', async () => {
    expect((await client().models.list()).data).toEqual([
      { id: 'svc', object: 'model', created: expect.any(Number), owned_by: 'svc' },
    ]);
    expect((await client().models.retrieve('svc')).id).toBe('svc');
    const error = await client()
      .models.retrieve('gpt-9')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'model_not_found', param: 'model' });
  });

  test('gets a complete reply with usage', async () => {
    compat.core.script = ({ result }) =>
      result({
        actions: [{ type: 'reply', text: 'hi' }],
        usage: {
          input_tokens: 5,
          output_tokens: 2,
          cache_read_tokens: 4,
          cache_write_tokens: 1,
          estimated: false,
          cost_usd: null,
        },
      });
    const { data: reply, request_id: requestId } = await client()
      .chat.completions.create({ model: 'svc', messages: hello })
      .withResponse();
    expect(requestId).toMatch(/^req_/);
    expect(reply).toMatchObject({
      object: 'chat.completion',
      model: 'svc',
      choices: [{ message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    });
    expect(reply.usage).toMatchObject({
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 4 },
    });
    expect(Math.abs(reply.created - Date.now() / 1000)).toBeLessThan(60);
  });

  test('gets a stream, with usage on request', async () => {
    const stream = await client().chat.completions.create({
      model: 'svc',
      stream: true,
      stream_options: { include_usage: true },
      messages: hello,
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('echo: hello there');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 0 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test('supports the stream helper of the client', async () => {
    const run = client().chat.completions.stream({ model: 'svc', messages: hello });
    await expect(run.finalContent()).resolves.toBe('echo: hello there');
  });

  test.each([[false], [true]])('gets an empty reply for a turn that ends in silence (stream: %s)', async (stream) => {
    compat.core.script = ({ result }) => result({ outcome: 'silent' });
    const text = stream
      ? await client().chat.completions.stream({ model: 'svc', messages: hello }).finalContent()
      : (await ask()).choices[0]?.message.content;
    expect(text).toBe('');
  });

  test('streams the full text of a turn without deltas', async () => {
    compat.core.script = ({ result }) => result({ outcome: 'command', actions: [{ type: 'reply', text: 'A new session.' }] });
    await expect(client().chat.completions.stream({ model: 'svc', messages: hello }).finalContent()).resolves.toBe(
      'A new session.',
    );
  });

  test('gets an error frame when the reply is replaced after a part of it was sent', async () => {
    compat.core.script = ({ handlers, result }) => {
      handlers.onDelta?.('half');
      handlers.onRetract?.();
      handlers.onDelta?.('another');
      return result({ actions: [{ type: 'reply', text: 'another' }] });
    };
    const text = await (await post({ stream: true, messages: hello }, { 'idempotency-key': 'order-7' })).text();
    expect(text).not.toContain('another');
    expect(text).not.toContain('"finish_reason":"stop"');
    expect(text).toMatch(/data: \{"error":\{.*order-7.*"code":"stream_interrupted"\}\}\n\ndata: \[DONE\]\n\n$/);
  });

  test('gets the streamed text when the reply is withdrawn', async () => {
    compat.core.script = ({ handlers, result }) => {
      handlers.onDelta?.('said');
      handlers.onRetract?.();
      return result({ outcome: 'silent' });
    };
    await expect(client().chat.completions.stream({ model: 'svc', messages: hello }).finalContent()).resolves.toBe('said');
  });

  test.each([[false], [true]])('gets a PermissionDeniedError when the core denies the caller (stream: %s)', async (stream) => {
    compat.core.script = ({ result }) => result({ outcome: 'denied', actions: [{ type: 'reply', text: 'no access' }] });
    const error = await client()
      .chat.completions.create({ model: 'svc', stream, messages: hello })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PermissionDeniedError);
    expect(error).toMatchObject({ status: 403, code: 'no_access', error: { message: 'no access' } });
  });

  test.each([
    ['engine_failed', 502, InternalServerError],
    ['unavailable', 503, InternalServerError],
    ['engine_stalled', 504, InternalServerError],
    ['queue_full', 429, RateLimitError],
  ] as const)('a turn that fails with %s before its first word has status %i, streamed or not', async (code, status, kind) => {
    compat.core.script = () => Promise.reject(fault(code));
    for (const stream of [false, true]) {
      const error = await client()
        .chat.completions.create({ model: 'svc', stream, messages: hello })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ status, code });
    }
  });

  test('does not retry a turn that may have run, and retries one that did not', async () => {
    const patient = new OpenAI({ baseURL: `${compat.url}/v1`, apiKey: annKey, maxRetries: 2 });
    compat.core.script = () => Promise.reject(fault('engine_failed'));
    await patient.chat.completions.create({ model: 'svc', messages: hello }).catch(() => undefined);
    expect(compat.core.turns).toHaveLength(1);
    compat.core.script = ({ result }) =>
      compat.core.turns.length < 3 ? Promise.reject(fault('unavailable', { mayHaveRun: false })) : result();
    await patient.chat.completions.create({ model: 'svc', messages: hello });
    expect(compat.core.turns).toHaveLength(3);
  });

  test('retries a request that timed out as the same message', async () => {
    const hasty = new OpenAI({ baseURL: `${compat.url}/v1`, apiKey: annKey, maxRetries: 1, timeout: 1_000 });
    const answered = Promise.withResolvers<void>();
    compat.core.script = async ({ result }) => {
      if (compat.core.turns.length % 2 === 1) await answered.promise;
      return result();
    };
    await hasty.chat.completions.create({ model: 'svc', messages: hello });
    await hasty.responses.create({ model: 'svc', input: 'hello there' });
    answered.resolve();
    const [first, second, third, fourth] = compat.core.turns.map(({ envelope }) => [
      envelope.conversation_key,
      envelope.message_id,
    ]);
    expect([second, fourth]).toEqual([first, third]);
    expect(first![1]).not.toBe(third![1]);
  });

  test('retries a request that a restart has cut off as the same message', async () => {
    const never = Promise.withResolvers<never>();
    never.promise.catch(() => undefined);
    compat.core.script = () => never.promise;
    const patient = new OpenAI({ baseURL: `${compat.url}/v1`, apiKey: annKey, maxRetries: 5 });
    const asked = patient.chat.completions.create({ model: 'svc', messages: hello });
    await expect.poll(() => compat.core.turns.length).toBe(1);
    const { core } = await compat.restart();
    expect((await asked).choices[0]?.message.content).toBeDefined();
    never.reject(new Error('over'));
    expect(core.turns.map(({ envelope }) => envelope.message_id)).toEqual([compat.core.turns[0]?.envelope.message_id]);
  });

  test('does not take a request of another caller, or one already answered, for a retry', async () => {
    const again = { headers: { 'x-stainless-retry-count': '1' } };
    await ask();
    await ask(hello, again);
    const left = new AbortController();
    const never = Promise.withResolvers<never>();
    never.promise.catch(() => undefined);
    compat.core.script = () => never.promise;
    const lost = ask(hello, { signal: left.signal });
    await expect.poll(() => compat.core.turns.length).toBe(3);
    left.abort();
    await expect(lost).rejects.toThrow();
    compat.core.script = ({ result }) => result();
    const other = [{ role: 'user' as const, content: 'hello where' }];
    await client(bobKey).chat.completions.create({ model: 'svc', messages: hello }, again);
    await ask(other, again);
    await ask(hello, { headers: { ...again.headers, 'X-Session-Key': 'x' } });
    await ask();
    never.reject(new Error('over'));
    const ids = compat.core.turns.map(({ envelope }) => envelope.message_id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('gets an error in mid-stream after the text before it, and [DONE] at the end', async () => {
    compat.core.script = ({ handlers }) => {
      handlers.onDelta?.('half ');
      return Promise.reject(fault('engine_crashed'));
    };
    const words: string[] = [];
    const run = async () => {
      const stream = await client().chat.completions.create({ model: 'svc', stream: true, messages: hello });
      for await (const chunk of stream) words.push(chunk.choices[0]?.delta.content ?? '');
    };
    await expect(run()).rejects.toBeInstanceOf(APIError);
    expect(words.join('')).toBe('half ');
    const text = await (await post({ stream: true, messages: hello })).text();
    expect(text).toMatch(/data: \{"error":\{"message":"The engine is out\.".*"code":"engine_crashed"\}\}\n\ndata: \[DONE\]\n\n$/);
  });

  test('a stream ends with [DONE]', async () => {
    expect(await (await post({ stream: true, messages: hello })).text()).toMatch(
      /"finish_reason":"stop"\}\]\}\n\ndata: \[DONE\]\n\n$/,
    );
  });

  test('a bad request names the parameter', async () => {
    const error = await ask([]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ param: 'messages' });
  });

  test('unknown routes answer 404 with an error of the API', async () => {
    const error = await client()
      .responses.retrieve('resp_1')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'unknown_url', error: { type: 'invalid_request_error', param: null } });
    const withoutVersion = new OpenAI({ baseURL: compat.url, apiKey: annKey, maxRetries: 0 });
    await expect(withoutVersion.models.list()).rejects.toThrow('base URL of a client ends in /v1');
  });

  test('rejects other methods and bodies with an error of the API', async () => {
    const wrongMethod = await fetch(`${compat.url}/v1/chat/completions`);
    expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await wrongMethod.json()).toMatchObject({ error: { code: 'method_not_supported' } });
    const wrongType = await post({ messages: hello }, { 'content-type': 'text/plain' });
    expect([wrongType.status, ((await wrongType.json()) as { error: object }).error]).toEqual([
      415,
      expect.objectContaining({ code: 'unsupported_media_type' }),
    ]);
    const tooLarge = await post({ messages: [{ role: 'user', content: 'x'.repeat(10 * 1024 * 1024) }] });
    expect([tooLarge.status, ((await tooLarge.json()) as { error: object }).error]).toEqual([
      413,
      expect.objectContaining({ code: 'too_large' }),
    ]);
  });

  describe('conversation', () => {
    const transcripts = () => compat.core.turns.map(({ envelope }) => envelope.content.transcript?.length ?? 0);
    const longer: OpenAI.ChatCompletionMessageParam[] = [
      ...hello,
      { role: 'assistant', content: 'yes?' },
      { role: 'user', content: 'more' },
    ];

    test('forwards the transcript with its first request and only the latest user message later', async () => {
      await ask(longer);
      await ask(longer);
      expect(transcripts()).toEqual([2, 0]);
      expect(new Set(compat.core.turns.map(({ envelope }) => envelope.conversation_key)).size).toBe(1);
      expect(compat.core.turns[1]?.envelope.content.text).toBe('more');
    });

    test('forwards the transcript again until there is a reply', async () => {
      compat.core.script = () => Promise.reject(fault('engine_failed'));
      await ask(longer).catch(() => undefined);
      compat.core.script = ({ result }) => result({ outcome: 'blocked', actions: [{ type: 'reply', text: 'No.' }] });
      await ask(longer);
      await ask(longer);
      expect(transcripts()).toEqual([2, 2, 2]);
    });

    test('separates two callers with the same first message', async () => {
      await ask();
      await client(bobKey).chat.completions.create({ model: 'svc', messages: hello });
      expect(new Set(compat.core.turns.map(({ envelope }) => envelope.conversation_key)).size).toBe(2);
      expect(compat.core.turns.map(({ envelope }) => envelope.sender.raw_id)).toEqual(['ann', 'bob']);
    });

    test('can be named by a header', async () => {
      await ask(hello, { headers: { 'X-Session-Key': 'notes' } });
      await ask([{ role: 'user', content: 'other' }], { headers: { 'X-Session-Key': 'notes' } });
      const keys = compat.core.turns.map(({ envelope }) => envelope.conversation_key);
      expect(keys[0]).toMatch(/^compat:inst_1:session:/);
      expect(keys[1]).toBe(keys[0]);
    });

    test.each(['', 'two words', 'x'.repeat(201), 'caf\u00e9'])('rejects the name %j', async (name) => {
      expect((await post({ messages: hello }, { 'x-session-key': name })).status).toBe(400);
    });
  });

  test('every request is a message with its own id, unless the caller names it', async () => {
    await ask();
    await ask();
    await ask(hello, { headers: { 'Idempotency-Key': 'order-7' } });
    const ids = compat.core.turns.map(({ envelope }) => envelope.message_id);
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe('order-7');
  });

  test('passes the request id on to the turn', async () => {
    await ask(hello, { headers: { 'X-Request-Id': 'trace-1' } });
    expect(compat.core.turns[0]?.options.requestId).toBe('trace-1');
  });

  test.each([
    ['no Host', 'GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'bad_host'],
    ['no request', 'nonsense\r\n\r\n', 400, 'bad_request'],
    ['headers that are too long', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(50_000)}\r\n\r\n`, 431, 'bad_request'],
  ])('a request that Node rejects (%s) gets an error of the API', async (_what, bytes, status, code) => {
    const socket = connect(compat.port, '127.0.0.1').setEncoding('utf8');
    let text = '';
    socket.on('data', (part: string) => (text += part));
    socket.write(bytes);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject({
      error: { message: expect.any(String) as string, type: 'invalid_request_error', code },
    });
  });

  test('a client that disconnects in mid-stream does not stop the turn', async () => {
    const left = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<string>();
    compat.core.script = async ({ handlers, result }) => {
      handlers.onDelta?.('first ');
      await left.promise;
      handlers.onDelta?.('second');
      finished.resolve('the turn went on');
      return result({ actions: [{ type: 'reply', text: 'first second' }] });
    };
    const body = JSON.stringify({ stream: true, messages: hello });
    const socket = connect(compat.port, '127.0.0.1');
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${annKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await new Promise((resolve) => socket.once('data', resolve));
    socket.resetAndDestroy();
    await expect.poll(() => socket.destroyed).toBe(true);
    left.resolve();
    await expect(finished.promise).resolves.toBe('the turn went on');
    compat.core.script = ({ result }) => result();
    await expect(ask()).resolves.toMatchObject({ object: 'chat.completion' });
  });
});
