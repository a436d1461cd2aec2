import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ServiceError } from '@svc/service-kit/service-error.ts';
import { responseFields } from './parse-response-request.ts';
import { checkFields, requestFields } from './request-fields.ts';

const refusalOf = (body: Record<string, unknown>): ServiceError | null => {
  try {
    checkFields(body);
    return null;
  } catch (error) {
    return error as ServiceError;
  }
};

describe('request fields', () => {
  test.each([
    ['chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase', requestFields],
    ['responses/responses.d.ts', 'ResponseCreateParamsBase', responseFields],
  ])("match those of the official client's types: %s", (file, type, rules) => {
    const types = path.join(path.dirname(createRequire(import.meta.url).resolve('openai')), 'resources', file);
    const [, body = ''] = new RegExp(`export interface ${type} \\{\n(.*?)\n\\}`, 's').exec(readFileSync(types, 'utf8')) ?? [];
    const names = [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(25);
    expect(new Set(Object.keys(rules))).toEqual(new Set(names));
  });

  const tool = { type: 'function', function: { name: 'f' } };
  test.each([
    ['tools', [tool]],
    ['tools', {}],
    ['tool_choice', 'required'],
    ['tool_choice', tool],
    ['functions', [{ name: 'f' }]],
    ['function_call', { name: 'f' }],
    ['n', 2],
    ['n', 0],
    ['logprobs', true],
    ['top_logprobs', 3],
    ['logit_bias', { 50256: -100 }],
    ['audio', { voice: 'alloy', format: 'wav' }],
    ['modalities', ['text', 'audio']],
    ['moderation', { model: 'omni' }],
    ['web_search_options', {}],
  ])('reject %s of %j by name', (name, value) => {
    expect(refusalOf({ [name]: value })).toMatchObject({
      status: 400,
      details: { param: name, code: 'unsupported_parameter' },
    });
    expect(refusalOf({ [name]: null })).toBeNull();
  });

  test.each([
    [{ tools: [tool], tool_choice: 'none' }],
    [{ functions: [{ name: 'f' }], function_call: 'none' }],
    [{ tools: [], tool_choice: 'auto', parallel_tool_calls: true }],
    [{ n: 1, logprobs: false, top_logprobs: 0, logit_bias: {}, modalities: ['text'] }],
    [{ user: 'u', metadata: { a: 'b' }, prompt_cache_key: 'k', prediction: { type: 'content', content: 'x' } }],
  ])('accept %j without effect', (body) => {
    expect(checkFields(body)).toEqual([]);
  });

  test('return ignored parameters, a bounded number of them', () => {
    expect(checkFields({ temperature: 0, seed: 7, max_tokens: 5, top_k: 4, __proto__: null })).toEqual([
      'temperature',
      'seed',
      'max_tokens',
      'top_k',
    ]);
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`x${i}`, 1]));
    expect(checkFields(many)).toHaveLength(32);
    expect(checkFields({ 'x\r\nset-cookie': 1, 'caf\u00e9': 1, constructor: 1 })).toEqual(['constructor']);
  });
});
