import { expect, test } from 'vitest';
import { withoutSearch } from './model-catalog.ts';

test('no model has to search for its tools, and the rest of what is known of it stays', () => {
  const text = JSON.stringify({ models: [{ slug: 'a', supports_search_tool: true, x: [1] }, { slug: 'b' }] });
  expect(JSON.parse(withoutSearch(text))).toEqual({
    models: [
      { slug: 'a', supports_search_tool: false, x: [1] },
      { slug: 'b', supports_search_tool: false },
    ],
  });
});

test.each(['[]', '{}', 'nonsense'])('%s is no list of models', (text) => expect(() => withoutSearch(text)).toThrow());
