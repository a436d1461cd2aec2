import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { piecesOf } from './pieces.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const heapBytes = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

test('cuts before paragraphs and headings, but not within lists and quotes', () => {
  expect(piecesOf('one\n\ntwo\n\n# three\n\n- four\n\n- five\n\n> six\n\nseven')).toEqual([
    'one',
    'two',
    '# three\n\n- four\n\n- five\n\n> six',
    'seven',
  ]);
});

test('loses only line breaks of any text', () => {
  const texts = fc
    .array(fc.oneof(fc.constant('\n\n'), fc.string({ unit: 'binary' }), fc.constant('\ud800')))
    .map((parts) => parts.join(''));
  const bare = (text: string) => text.replaceAll('\n', '');
  fc.assert(
    fc.property(texts, (text) => bare(piecesOf(text).join('')) === bare(text)),
    { numRuns: 100 },
  );
});

test('a piece does not keep the text that it was cut from in memory', () => {
  const before = heapBytes();
  const kept: string[] = [];
  let text = '';
  for (let count = 0; count < 200; count += 1) {
    text += `${count} ${'word '.repeat(60)}\n\n`;
    kept.push(piecesOf(text).at(-1) ?? '');
  }
  expect(kept).toHaveLength(200);
  expect(heapBytes() - before).toBeLessThan(1_000_000);
});
