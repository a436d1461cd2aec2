import OpenAI, { APIError, BadRequestError } from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CoreError } from '@svc/connector-kit/core-error.ts';
import { annKey, bobKey, startCompat, type RunningCompat } from './start-compat.ts';

type Params = Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>;

let compat: RunningCompat;
beforeEach(async () => (compat = await startCompat()));
afterEach(() => compat.stop());
const client = (apiKey: string = annKey) => new OpenAI({ baseURL: `${compat.url}/v1`, apiKey, maxRetries: 0 });
const ask = (params: Params = {}, apiKey = annKey) =>
  client(apiKey).responses.create({ model: 'svc', input: 'hello there', ...params });
const refusal = (params: object) => ask(params).catch((error: unknown) => error);
const last = () => compat.core.turns.at(-1)?.envelope;

describe('response', () => {
  test('has the text and the usage', async () => {
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
    const response = await ask({ instructions: 'Be brief.' });
    expect(response).toMatchObject({ object: 'response', status: 'completed', model: 'svc', output_text: 'hi', error: null });
    expect(response.usage).toMatchObject({
      input_tokens: 10,
      output_tokens: 2,
      total_tokens: 12,
      input_tokens_details: { cached_tokens: 4 },
    });
    expect(last()?.content).toEqual({ text: 'hello there', system: 'Be brief.' });
  });

  test('streams the events that the official client reads', async () => {
    const stream = client().responses.stream({ model: 'svc', input: 'hello there' });
    const types: string[] = [];
    let [text, sequence] = ['', -1];
    for await (const event of stream) {
      types.push(event.type);
      expect(event.sequence_number).toBe(++sequence);
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    expect(text).toBe('echo: hello there');
    expect(new Set(types)).toEqual(
      new Set([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ]),
    );
    expect((await stream.finalResponse()).output_text).toBe('echo: hello there');
  });

  test('reads an input of items, including images', async () => {
    const png =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await ask({
      input: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'input_text', text: 'one' }] },
        {
          type: 'message',
          role: 'assistant',
          id: 'm1',
          status: 'completed',
          content: [{ type: 'output_text', text: 'two', annotations: [] }],
        },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'ok' },
        { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'fine' }] },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'three ' },
            { type: 'input_image', image_url: png, detail: 'auto' },
          ],
        },
      ],
    });
    expect(last()?.content).toMatchObject({
      text: expect.stringMatching(/^three \[image-[0-9a-f]{8}\]$/) as string,
      system: 'Be kind.',
      transcript: [
        { role: 'user', text: 'one' },
        { role: 'assistant', text: 'two' },
        { role: 'assistant', text: '[called f({})]' },
        { role: 'tool', text: 'ok' },
        { role: 'tool', text: 'fine' },
      ],
      attachments: [{ mime: 'image/png' }],
    });
  });

  test('is JSON when requested', async () => {
    compat.core.script = ({ result }) => result({ actions: [{ type: 'reply', text: '{"a":1}' }] });
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };
    const parsed = await client().responses.parse({
      model: 'svc',
      input: 'x',
      text: { format: { type: 'json_schema', name: 'x', schema } },
    });
    expect(parsed.output_text).toBe('{"a":1}');
    expect(last()?.content.system).toContain(JSON.stringify(schema));
  });
});

describe('conversation of responses', () => {
  const keyOf = async (params: Params = {}, apiKey = annKey) => {
    const { id } = await ask(params, apiKey);
    return { id, key: last()?.conversation_key };
  };

  test('starts with each response, and continues by previous_response_id', async () => {
    const [first, second] = [await keyOf(), await keyOf()];
    expect(first.key).not.toBe(second.key);
    const third = await keyOf({ previous_response_id: first.id });
    expect(third.key).toBe(first.key);
    expect((await keyOf({ previous_response_id: third.id })).key).toBe(first.key);
    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
  });

  test('lasts one request with conversation_per_request, but continues by previous_response_id', async () => {
    await compat.stop();
    compat = await startCompat({ conversation_per_request: true });
    const [first, second] = [await keyOf(), await keyOf()];
    expect(first.key).toMatch(/^compat:inst_1:once:/);
    expect(second.key).not.toBe(first.key);
    expect((await keyOf({ previous_response_id: first.id })).key).toBe(first.key);
  });

  test('cannot be continued by another caller', async () => {
    const anns = await keyOf();
    expect((await keyOf({ previous_response_id: anns.id }, bobKey)).key).not.toBe(anns.key);
  });

  test('rejects a previous_response_id that this server did not issue', async () => {
    for (const previous_response_id of [
      'resp_123',
      'x',
      `resp_${'A'.repeat(500)}.x`,
      `resp_${Buffer.from('a\nb').toString('base64url')}.x`,
    ])
      expect(await refusal({ previous_response_id })).toMatchObject({ status: 400, code: 'previous_response_not_found' });
    expect(compat.core.turns).toHaveLength(0);
  });
});

test.each([
  [{ tools: [{ type: 'function', name: 'f', parameters: {}, strict: true }] }, 'tools'],
  [{ tools: [{ type: 'web_search' }] }, 'tools'],
  [{ tool_choice: 'required' }, 'tool_choice'],
  [{ background: true }, 'background'],
  [{ conversation: 'conv_1' }, 'conversation'],
  [{ prompt: { id: 'p' } }, 'prompt'],
  [{ top_logprobs: 2 }, 'top_logprobs'],
  [{ input: [] }, 'input'],
  [{ input: 5 }, 'input'],
  [{ input: [{ role: 'robot', content: 'x' }] }, 'input[0].role'],
  [{ input: [{ type: 'item_reference', id: 'm1' }] }, 'input[0].type'],
  [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }, 'input[0].content[0].image_url.url'],
  [{ input: [{ role: 'user', content: [{ type: 'input_video' }] }] }, 'input[0].content[0]'],
  [{ text: { format: { type: 'json_schema', name: 'x', schema: { pattern: 'x' } } } }, 'text.format.schema.pattern'],
  [{ instructions: 5 }, 'instructions'],
])('%#: rejects an unsupported parameter by name', async (params, param) => {
  const error = await refusal(params);
  expect(error).toBeInstanceOf(BadRequestError);
  expect(error).toMatchObject({ param });
  expect(compat.core.turns).toHaveLength(0);
});

describe('failure', () => {
  const fault = () => Promise.reject(new CoreError('engine_failed', 'The engine is out.', { mayHaveRun: true }));

  test('before the first word sets the status', async () => {
    compat.core.script = fault;
    expect(await refusal({})).toMatchObject({ status: 502, code: 'engine_failed' });
    expect(await refusal({ stream: true })).toMatchObject({ status: 502, code: 'engine_failed' });
  });

  test('in mid-stream ends the stream with an error', async () => {
    compat.core.script = ({ handlers }) => {
      handlers.onDelta?.('half ');
      return fault();
    };
    let text = '';
    const run = async () => {
      for await (const event of await client().responses.create({ model: 'svc', input: 'x', stream: true }))
        if (event.type === 'response.output_text.delta') text += event.delta;
    };
    await expect(run()).rejects.toBeInstanceOf(APIError);
    expect(text).toBe('half ');
  });
});
