import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLineSplitter } from './line-splitter.ts';

function split(chunks: Buffer[], maxLength = 1000) {
  const lines: string[] = [];
  let tooLong = 0;
  const splitter = createLineSplitter(
    maxLength,
    (line) => lines.push(line),
    () => tooLong++,
  );
  for (const chunk of chunks) splitter.push(chunk);
  return { lines, tooLong };
}

test('splits lines the same however the bytes are cut, also within a character', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll('\n', ' '))),
      fc.integer({ min: 1, max: 9 }),
      (texts, size) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
        expect(split(chunks).lines).toEqual(texts.filter((text) => text !== ''));
      },
    ),
  );
});

test('reports a line that is too long once, and drops everything after it', () => {
  const { lines, tooLong } = split([Buffer.from('ok\n'), Buffer.from('x'.repeat(1001)), Buffer.from('y\nforged\n')]);
  expect(lines).toEqual(['ok']);
  expect(tooLong).toBe(1);
});

test('reads a line of a million characters that arrives in small pieces', () => {
  const piece = Buffer.from('x'.repeat(16));
  const { lines } = split([...Array.from({ length: 65_536 }, () => piece), Buffer.from('\n')], 2 ** 24);
  expect(lines[0]).toHaveLength(2 ** 20);
});
