import { expect, test } from 'vitest';
import { wrap } from './terminal.ts';

test('breaks between words, and gives a word that is too long a line of its own', () => {
  expect(wrap('one two three four', 20)).toEqual(['one two three four']);
  expect(wrap(`one ${'x'.repeat(30)} two three`, 20)).toEqual(['one', 'x'.repeat(30), 'two three']);
  expect(wrap('', 20)).toEqual(['']);
});

test('keeps a quoted command of ours on one line, with what stands right after it', () => {
  expect(wrap('It is missing: "./svc engine install claude". Then log in.', 24)).toEqual([
    'It is missing:',
    '"./svc engine install claude".',
    'Then log in.',
  ]);
  expect(wrap('said "two words here" twice', 20)).toEqual(['said "two words', 'here" twice']);
});
