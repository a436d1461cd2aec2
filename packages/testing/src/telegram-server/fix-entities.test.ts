import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TelegramEntity } from './api-types.ts';
import { fixEntities } from './fix-entities.ts';

const entity = (type: string, offset: number, length: number): TelegramEntity => ({ type, offset, length });

test.each([
  [5, 1, 'entity begins after the end of the text at UTF-16 offset 5'],
  [2, 3, 'entity beginning at UTF-16 offset 2 ends after the end of the text at UTF-16 offset 5'],
  [1, 1, 'entity begins in a middle of a UTF-16 symbol at UTF-16 offset 1'],
  [0, 1, 'entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at UTF-16 offset 1'],
  [-1, 1, 'receive entity with incorrect offset or length'],
])('rejects an entity at %d of length %d in "😀ab"', (offset, length, description) => {
  expect(() => fixEntities({ text: '😀ab', entities: [entity('bold', offset, length)] })).toThrow(description);
});

test.each<[string, TelegramEntity[], number]>([
  ['bold in italic', [entity('italic', 0, 5), entity('bold', 1, 2)], 0],
  ['bold and italic side by side', [entity('italic', 0, 2), entity('bold', 2, 2)], 0],
  ['a link in bold', [entity('bold', 0, 5), entity('text_link', 0, 5)], 0],
  ['bold in a link', [entity('text_link', 0, 5), entity('bold', 1, 1)], 0],
  ['code in a quote', [entity('blockquote', 0, 5), entity('code', 1, 1)], 0],
  ['bold that ends after italic', [entity('italic', 0, 3), entity('bold', 1, 4)], 1],
  ['bold in code', [entity('code', 0, 3), entity('bold', 1, 1)], 1],
  ['code in bold', [entity('bold', 0, 3), entity('code', 1, 1)], 1],
  ['a quote in a quote', [entity('blockquote', 0, 5), entity('bold', 1, 3), entity('blockquote', 1, 1)], 1],
  ['a link in a link', [entity('text_link', 0, 5), entity('text_link', 1, 1)], 1],
])('%s', (_, entities, faults) => {
  expect(fixEntities({ text: 'abcdef', entities }).faults).toHaveLength(faults);
});

test('keeps at most a hundred entities', () => {
  const entities = Array.from({ length: 101 }, (_, n) => entity('bold', n * 2, 1));
  const fixed = fixEntities({ text: 'x '.repeat(101), entities });
  expect([fixed.entities.length, fixed.faults]).toEqual([100, ['101 entities, of which 100 are kept']]);
});

describe('white space', () => {
  test('is trimmed at both ends, at the start only up to the first entity', () => {
    const fixed = fixEntities({ text: ' \n  ab \n', entities: [entity('pre', 2, 5), entity('bold', 7, 1)] });
    expect(fixed).toMatchObject({ text: '  ab', entities: [entity('pre', 0, 4)] });
  });

  test('keeps each entity on its characters', () => {
    const part = fc.record({ text: fc.constantFrom(' ', '\n', 'x', '😀', 'é '), isBold: fc.boolean() });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), (parts) => {
        let text = '';
        const entities = parts.flatMap((one) => {
          const offset = text.length;
          text += one.text;
          return one.isBold ? [entity('bold', offset, one.text.length)] : [];
        });
        const fixed = fixEntities({ text, entities });
        const shown = fixed.entities.map(({ offset, length }) => fixed.text.slice(offset, offset + length).trim());
        const bold = parts.filter(({ isBold }) => isBold).map((one) => one.text.trim());
        expect(shown.filter(Boolean)).toEqual(bold.filter(Boolean));
        expect(fixed.text.trim()).toBe(text.trim());
      }),
    );
  });
});
