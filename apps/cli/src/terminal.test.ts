import { expect, test } from 'vitest';
import { wrap } from './terminal.ts';

test('wraps between words, and puts a word over the width on its own line', () => {
  expect(wrap('one two three four', 20)).toEqual(['one two three four']);
  expect(wrap(`one ${'x'.repeat(30)} two three`, 20)).toEqual(['one', 'x'.repeat(30), 'two three']);
  expect(wrap('', 20)).toEqual(['']);
});

test('keeps a quoted svc command on one line, with the punctuation after it', () => {
  expect(wrap('It is missing: "./svc engine install claude". Then log in.', 24)).toEqual([
    'It is missing:',
    '"./svc engine install claude".',
    'Then log in.',
  ]);
  expect(wrap('said "two words here" twice', 20)).toEqual(['said "two words', 'here" twice']);
});
