import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textLines } from './text-lines.ts';

async function linesOf(chunks: readonly Buffer[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of textLines(Readable.from(chunks))) lines.push(line);
  return lines;
}

test('ends lines only at line feeds, also in text with other separators', async () => {
  const text = 'one\u2028still one\u2029and one\rand one\n\ntwo\n';
  expect(await linesOf([Buffer.from(text)])).toEqual(['one\u2028still one\u2029and one\rand one', '', 'two']);
});

test('returns the same lines however the bytes are cut, with an incomplete last line', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', '\u2028', '\u00e9', '\u{1f600}', '\r') });
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
      const bytes = Buffer.from([...lines, 'the last'].join('\n'));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
      expect(await linesOf(chunks)).toEqual([...lines, 'the last']);
    }),
  );
});
