import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseModelList, smallContext } from './endpoint-model.ts';

test.each([
  [{ id: 'a', max_model_len: 4096 }],
  [{ id: 'a', context_length: 4096 }],
  [{ id: 'a', loaded_context_length: 4096, max_context_length: 131_072 }],
  [{ id: 'a', meta: { n_ctx: 4096, n_ctx_train: 131_072 } }],
])('a server that lists %j has a model that is too small, and its size is named', (model) => {
  expect(smallContext(parseModelList(JSON.stringify({ data: [model] })))).toMatch(
    /model a has a context of 4096 tokens.*at least 8192/,
  );
});

test('a model with room, or of which nothing is known, is no warning', () => {
  expect(smallContext(parseModelList('{"data":[{"id":"a","max_model_len":32768},{"id":"b"}]}'))).toBeNull();
});

test('whatever a server lists is read without a fault', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseModelList(text)));
  fc.assert(fc.property(fc.array(fc.jsonValue()), (data) => void parseModelList(JSON.stringify({ data }))));
});
