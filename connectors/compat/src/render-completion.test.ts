import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import { createChunkRenderer, renderCompletion, shapedReply, toUsage } from './render-completion.ts';

const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'svc "x"' };
const usage: TokenUsage = {
  input_tokens: 10,
  output_tokens: 7,
  cache_read_tokens: 3,
  cache_write_tokens: 2,
  estimated: false,
  cost_usd: 1,
};
const result = (...texts: string[]): HandleResult => ({
  actions: texts.map((text) => ({ type: 'reply', text })),
  outcome: 'replied',
  conversation_key: 'k',
  turn_id: 't',
  usage,
});
const chunkOf = (frame: string) => {
  expect(frame).toMatch(/^data: .*\n\n$/);
  return JSON.parse(frame.slice('data: '.length)) as { choices: unknown[] };
};

describe('renderCompletion()', () => {
  test('renders a reply as a chat completion', () => {
    expect(JSON.parse(renderCompletion(head, result('hello'), 'hello'))).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'svc "x"',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'hello', refusal: null }, logprobs: null, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 15, completion_tokens: 7, total_tokens: 22, prompt_tokens_details: { cached_tokens: 3 } },
    });
  });

  test.each([
    [[], ''],
    [['one'], 'one'],
    [['one', 'two'], 'one\n\ntwo'],
  ])('renders the texts %j as %j', (texts, content) => {
    expect(shapedReply(result(...texts), { stops: [], format: null })).toBe(content);
  });
});

describe('toUsage()', () => {
  test('counts cached tokens as prompt tokens, and names thinking', () => {
    expect(toUsage({ ...usage, thinking_tokens: 4 })).toMatchObject({
      prompt_tokens: 15,
      completion_tokens_details: { reasoning_tokens: 4 },
    });
  });

  test('is zero for a turn without an engine', () => {
    expect(toUsage(undefined)).toEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 },
    });
  });
});

describe('createChunkRenderer()', () => {
  const chunk = createChunkRenderer(head);
  const common = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'svc "x"' };

  test.each([
    ['the first', chunk.role(), [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]],
    ['one of text', chunk.text('a\n\nb'), [{ index: 0, delta: { content: 'a\n\nb' }, finish_reason: null }]],
    ['the last', chunk.finish(), [{ index: 0, delta: {}, finish_reason: 'stop' }]],
  ])('%s', (_what, frame, choices) => {
    expect(chunkOf(frame)).toEqual({ ...common, choices });
  });

  test('renders usage in a chunk without choices', () => {
    expect(chunkOf(chunk.usage(usage))).toEqual({ ...common, choices: [], usage: toUsage(usage) });
  });

  test('escapes text so that it cannot forge a frame', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const frame = chunk.text(text);
        expect(frame.indexOf('\n\n')).toBe(frame.length - 2);
        expect(chunkOf(frame).choices).toMatchObject([{ delta: { content: text } }]);
      }),
    );
  });
});
