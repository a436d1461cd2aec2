import OpenAI, { BadRequestError, InternalServerError, RateLimitError } from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { annKey, bobKey, startCompat, type RunningCompat } from './start-compat.ts';

const hello = [{ role: 'user' as const, content: 'hello there' }];
type Params = Partial<Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>>;

let compat: RunningCompat;
beforeEach(async () => (compat = await startCompat()));
afterEach(() => compat.stop());
const client = (apiKey: string = annKey) => new OpenAI({ baseURL: `${compat.url}/v1`, apiKey, maxRetries: 2 });
const ask = (params: Params = {}, options?: OpenAI.RequestOptions) =>
  client().chat.completions.create({ model: 'svc', messages: hello, ...params }, options);
const streamed = (params: Params) => client().chat.completions.stream({ model: 'svc', messages: hello, ...params });
const reply = (text: string) => (compat.core.script = ({ result }) => result({ actions: [{ type: 'reply', text }] }));

test('rejects unsupported parameters by name without starting a turn', async () => {
  const tools: Params = { tools: [{ type: 'function', function: { name: 'weather' } }] };
  const refused: [Params, string][] = [
    [tools, 'tools'],
    [{ n: 3 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }, 'modalities'],
  ];
  for (const [params, param] of refused) {
    const error = await ask(params).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ param, code: 'unsupported_parameter' });
  }
  expect(compat.core.turns).toHaveLength(0);
  await ask({ ...tools, tool_choice: 'none' });
});

test('names ignored parameters in a header', async () => {
  const { response } = await client()
    .chat.completions.create({ model: 'svc', messages: hello, temperature: 0, max_completion_tokens: 9 })
    .withResponse();
  expect(response.headers.get('x-ignored-parameters')).toBe('temperature, max_completion_tokens');
  const plain = await client().chat.completions.create({ model: 'svc', messages: hello }).withResponse();
  expect(plain.response.headers.has('x-ignored-parameters')).toBe(false);
});

test.each([[false], [true]])('an answer ends before the first match of `stop` (stream: %s)', async (isStream) => {
  compat.core.script = ({ handlers, result }) => {
    for (const part of ['one E', 'ND', ' two']) handlers.onDelta?.(part);
    return result({ actions: [{ type: 'reply', text: 'one END two' }] });
  };
  const params = { stop: ['END'] };
  expect(isStream ? await streamed(params).finalContent() : (await ask(params)).choices[0]?.message.content).toBe('one ');
});

describe('JSON response format', () => {
  const schema = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'], additionalProperties: false };
  const format: Params = { response_format: { type: 'json_schema', json_schema: { name: 'sum', strict: true, schema } } };

  test('instructs the assistant with the schema and strips the code fence', async () => {
    reply('```json\n{"sum": 5}\n```');
    expect(
      (await client().chat.completions.parse({ model: 'svc', messages: hello, ...format })).choices[0]?.message.content,
    ).toBe('{"sum": 5}');
    expect(await streamed(format).finalContent()).toBe('{"sum": 5}');
    expect(compat.core.turns[0]?.envelope.content.system).toContain(JSON.stringify(schema));
  });

  test.each([[false], [true]])('an answer that does not match is an error and is not retried (stream: %s)', async (isStream) => {
    reply('It is {"sum": "five"}.');
    const error = await (isStream ? streamed(format).finalContent() : ask(format)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 502, code: 'response_format_not_met' });
    expect(compat.core.turns).toHaveLength(1);
  });

  test('does not apply to the reply of a command', async () => {
    compat.core.script = ({ result }) => result({ outcome: 'command', actions: [{ type: 'reply', text: 'A new session.' }] });
    expect((await ask(format)).choices[0]?.message.content).toBe('A new session.');
  });
});

describe('conversation', () => {
  const keys = () => compat.core.turns.map(({ envelope }) => envelope.conversation_key);
  const started = async (apiKey: string = annKey, headers: Record<string, string> = {}) => {
    const { response } = await client(apiKey)
      .chat.completions.create({ model: 'svc', messages: hello }, { headers: { 'X-Session-Key': 'new', ...headers } })
      .withResponse();
    return response.headers.get('x-session-key') ?? '';
  };

  test('starts with the key `new` and continues under the returned key, for its caller alone', async () => {
    const [first, second] = [await started(), await started()];
    expect(first).not.toBe(second);
    await ask({}, { headers: { 'X-Session-Key': first } });
    await client(bobKey).chat.completions.create({ model: 'svc', messages: hello }, { headers: { 'X-Session-Key': first } });
    const [one, two, again, others] = keys();
    expect(again).toBe(one);
    expect(new Set([one, two, others]).size).toBe(3);
  });

  test('stays the same when the request that started it is retried', async () => {
    const headers = { 'Idempotency-Key': 'order-7' };
    expect(await started(annKey, headers)).toBe(await started(annKey, headers));
    expect(await started(bobKey, headers)).not.toBe(await started(annKey, headers));
    expect(new Set(keys()).size).toBe(2);
  });

  test('lasts one request with conversation_per_request, and gets the full transcript', async () => {
    const once = await startCompat({ conversation_per_request: true });
    try {
      const api = new OpenAI({ baseURL: `${once.url}/v1`, apiKey: annKey });
      const messages = [...hello, { role: 'assistant' as const, content: 'yes?' }, ...hello];
      for (let i = 0; i < 2; i++) await api.chat.completions.create({ model: 'svc', messages });
      await api.chat.completions.create({ model: 'svc', messages }, { headers: { 'X-Session-Key': 'notes' } });
      const envelopes = once.core.turns.map(({ envelope }) => envelope);
      expect(new Set(envelopes.map((each) => each.conversation_key)).size).toBe(3);
      expect(envelopes.map(({ content }) => content.transcript?.length)).toEqual([2, 2, 2]);
      expect(envelopes[2]?.conversation_key).toMatch(/^compat:inst_1:session:/);
    } finally {
      await once.stop();
    }
  });
});

test.each([[false], [true]])(
  'a key that has spent its budget gets insufficient_quota and does not retry (stream: %s)',
  async (isStream) => {
    compat.core.script = ({ result }) =>
      result({
        outcome: 'blocked',
        blocked_by: 'spending',
        actions: [{ type: 'reply', text: 'You have used up what may be spent.' }],
      });
    const error = await (isStream ? streamed({}).finalContent() : ask()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'insufficient_quota', type: 'insufficient_quota' });
    expect((error as Error).message).toContain('You have used up');
    expect(compat.core.turns).toHaveLength(1);
  },
);
