import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sentences } from './sentences.ts';

test('returns each sentence of a growing reply once it is complete', () => {
  const sentences = new Sentences();
  expect(sentences.take('It is ten. You ha', false)).toEqual(['It is ten.']);
  expect(sentences.take('It is ten. You have **two** meetings! And', false)).toEqual(['You have two meetings!']);
  expect(sentences.take('It is ten. You have **two** meetings! And lunch', true)).toEqual(['And lunch']);
  expect(sentences.take('It is ten. You have **two** meetings! And lunch', true)).toEqual([]);
});

test('skips code and Markdown marks', () => {
  const text = '# So\n\nRun [this](https://x.example):\n```sh\nrm -rf. now\n```\n- Done.';
  expect(new Sentences().take(text, true)).toEqual(['So', 'Run this:', 'Done.']);
  expect(new Sentences().take('Look:\n```sh\nrm. now\n', false)).toEqual(['Look:']);
});

test('returns the same words however the reply is split', () => {
  const text = 'One is here. Two follows!\n\nThree? Then `four`. Five';
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (cuts) => {
      const sentences = new Sentences();
      const parts = cuts.toSorted((one, other) => one - other).flatMap((cut) => sentences.take(text.slice(0, cut), false));
      expect([...parts, ...sentences.take(text, true)].join(' ')).toBe('One is here. Two follows! Three? Then four. Five');
    }),
  );
});
