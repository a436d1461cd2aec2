import { expect, test } from 'vitest';
import { snippetAround } from './snippet.ts';

const marked = (text: string, words: string[]) => {
  const { snippet, highlights } = snippetAround(text, words);
  return highlights.map(([from, to]) => snippet.slice(from, to));
};

test('a snippet shows the text around the first match with the positions of the words', () => {
  const { snippet, highlights } = snippetAround(`${'before '.repeat(100)}the needle ${'after '.repeat(100)}`, ['needle']);
  expect(snippet.length).toBeLessThanOrEqual(200);
  expect(highlights.map(([from, to]) => snippet.slice(from, to))).toEqual(['needle']);
  expect(snippet).toContain('before the needle after');
});

test('words match at the beginning of a word, ignoring case and accents', () => {
  expect(marked('Un CAFÉ, un café; décafé', ['cafe'])).toEqual(['CAFÉ', 'café']);
  expect(marked('说你好世界吧', ['好', '世'])).toEqual(['好', '世']);
  expect(marked('nothing here', ['words'])).toEqual([]);
});

test('a surrogate pair is not split', () => {
  const { snippet } = snippetAround('👍'.repeat(300), ['x']);
  expect(snippet.isWellFormed()).toBe(true);
});
