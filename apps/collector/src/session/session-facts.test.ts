import { expect, test } from 'vitest';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { snippetOf } from './session-facts.ts';

const snippet = (text: string) => snippetOf({ kind: 'outbound', text } as StoredEvent);

test.each([0, 1, 10, 23])(
  'a snippet ends before a word that does not fit, as a partial secret could not be masked (%i)',
  (fits) => {
    const lead = 'word '.repeat(40).slice(0, 200 - fits - 1) + ' ';
    expect(snippet(`${lead}sk-live-0123456789abcdef and more`)).toBe(lead);
  },
);

test('a short text, or one whose last word ends at the limit, is unchanged', () => {
  expect(snippet('hello')).toBe('hello');
  expect(snippet(`${'a '.repeat(100)}b`)).toBe('a '.repeat(100));
});

test('a script without spaces is truncated between characters', () => {
  expect(snippet('字'.repeat(300))).toBe('字'.repeat(200));
  expect(snippet(`字${'😀'.repeat(150)}`)).toBe(`字${'😀'.repeat(99)}`);
});
