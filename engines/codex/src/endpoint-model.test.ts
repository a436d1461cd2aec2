import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseModelList, smallContext } from './endpoint-model.ts';

test.each([
  [{ id: 'a', max_model_len: 4096 }],
  [{ id: 'a', context_length: 4096 }],
  [{ id: 'a', loaded_context_length: 4096, max_context_length: 131_072 }],
  [{ id: 'a', meta: { n_ctx: 4096, n_ctx_train: 131_072 } }],
])('warns that a server which lists %j has a model with too small a context', (model) => {
  expect(smallContext(parseModelList(JSON.stringify({ data: [model] })))).toMatch(
    /model a has a context of 4096 tokens.*at least 8192/,
  );
});

test('does not warn about a model with enough or unknown context', () => {
  expect(smallContext(parseModelList('{"data":[{"id":"a","max_model_len":32768},{"id":"b"}]}'))).toBeNull();
});

test('does not throw on any list of models', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseModelList(text)));
  fc.assert(fc.property(fc.array(fc.jsonValue()), (data) => void parseModelList(JSON.stringify({ data }))));
});
