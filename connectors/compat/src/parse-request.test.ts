import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { parseRequest } from './parse-request.ts';

const user = { role: 'user', content: 'hi' };
const refusal = (body: unknown): ServiceError => {
  try {
    parseRequest(body);
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error('it was not refused');
};

describe('parseRequest()', () => {
  test('returns the messages, the system text and the latest user message', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: 'three' },
    ];
    expect(parseRequest({ model: 'gpt-9', stream: true, stream_options: { include_usage: true }, messages })).toEqual({
      model: 'gpt-9',
      stream: true,
      includeUsage: true,
      ignored: [],
      stops: [],
      format: null,
      system: 'Be brief.\n\nBe kind.',
      messages: [
        { role: 'user', text: 'one' },
        { role: 'assistant', text: 'two' },
        { role: 'user', text: 'three' },
      ],
      firstUserText: 'one',
      latest: 2,
      hasFiles: false,
    });
  });

  test('accepts other fields, and requires only messages', () => {
    const body = {
      messages: [user],
      temperature: 2,
      tools: [],
      user: 'x',
      stop: 'x',
      n: 1,
      made_up: null,
      top_k: 4,
      'a\r\nheader': 1,
      stream: null,
      stream_options: null,
      model: null,
    };
    expect(parseRequest(body)).toMatchObject({
      model: null,
      stream: false,
      includeUsage: false,
      ignored: ['temperature', 'top_k'],
      stops: ['x'],
      system: '',
      latest: 0,
    });
  });

  test('keeps tool calls and tool results in the transcript', () => {
    const messages = [
      { role: 'user', content: 'weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'sun' }] },
      { role: 'assistant', function_call: { name: 'old', arguments: '{}' } },
      { role: 'function', name: 'old', content: 'ok' },
      user,
    ];
    expect(parseRequest({ messages }).messages).toEqual([
      { role: 'user', text: 'weather?' },
      { role: 'assistant', text: '[called weather({"city":"Ulm"})]' },
      { role: 'tool', text: 'sun' },
      { role: 'assistant', text: '[called old({})]' },
      { role: 'tool', text: 'ok' },
      { role: 'user', text: 'hi' },
    ]);
  });

  test.each([[null], [5], [[null]], [[{ function: null }]], [[{ function: { name: 5 } }]]])(
    'ignores tool calls like %j',
    (calls) => {
      const messages = [user, { role: 'assistant', content: 'x', tool_calls: calls }];
      expect(parseRequest({ messages }).messages[1]).toEqual({ role: 'assistant', text: 'x' });
    },
  );

  test('joins the text parts of a message', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(parseRequest({ messages: [{ role: 'user', content }] }).firstUserText).toBe('ab');
  });

  test.each([
    [null, null],
    ['text', null],
    [[], null],
    [{}, 'messages'],
    [{ messages: 'hi' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'system', content: 'x' }] }, 'messages'],
    [{ messages: [{ role: 'user', content: ' \n' }] }, 'messages'],
    [{ messages: [{ role: 'user' }] }, 'messages'],
    [{ messages: [{ role: 'user', content: 'x'.repeat(1_000_001) }] }, 'messages'],
    [{ messages: [{ role: 'system', content: 'x'.repeat(200_001) }, user] }, 'messages'],
    [{ messages: Array.from({ length: 10_001 }, () => user) }, 'messages'],
    [{ messages: Array.from({ length: 100_000 }, () => user) }, 'messages'],
    [{ messages: [null] }, 'messages[0]'],
    [{ messages: [user, 'x'] }, 'messages[1]'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: '__proto__', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'constructor', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: { type: 'text', text: 'x' } }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0].image_url.url'],
    [{ messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0]'],
    [{ messages: [{ role: 'user', content: [null] }] }, 'messages[0].content[0]'],
    [{ messages: [user], model: 5 }, 'model'],
    [{ messages: [user], stream: 'true' }, 'stream'],
    [{ messages: [user], stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
    [{ messages: [user], n: 2 }, 'n'],
  ])('%#: rejects an invalid request and names the field', (body, param) => {
    expect(refusal(body)).toMatchObject({ code: 'bad_request', status: 400, details: { param } });
  });

  test('parses or rejects a request of any shape', () => {
    const message = fc.record(
      { role: fc.constantFrom('user', 'system', 'assistant', 'tool', 5), content: fc.anything(), tool_calls: fc.anything() },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.anything(),
      fc.record(
        { messages: fc.array(fc.oneof(message, fc.anything())), stream: fc.anything(), model: fc.anything() },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(body, (value) => {
        try {
          const { messages, latest } = parseRequest(value);
          expect(messages[latest]?.role).toBe('user');
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
        }
      }),
    );
  });
});
