import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { isolate } from './isolate.ts';
import { Rich } from './rich.tsx';
import { pieces, t } from './t.ts';

const nasty = fc.array(
  fc.constantFrom('a', 'א', ' ', '\n', '\u2029', '\u202e', '\u202c', '\u2066', '\u2067', '\u2068', '\u2069'),
);

/** The number of open isolates after each character of a line. */
const depths = (line: string): number[] => {
  let depth = 0;
  return Array.from(line).map((sign) => {
    if (/[\u2066-\u2068]/.test(sign)) depth += 1;
    if (sign === '\u2069') depth -= 1;
    return depth;
  });
};

test('closes every isolate and override within its own line, and changes no other character', () => {
  fc.assert(
    fc.property(nasty, (signs) => {
      const text = signs.join('');
      const isolated = isolate(text);
      for (const line of isolated.split(/[\n\u2029]/).filter((one) => /[\u202a-\u202e\u2066-\u2069]/.test(one))) {
        expect(
          depths(line)
            .slice(0, -1)
            .every((depth) => depth > 0),
        ).toBe(true);
        expect(depths(line).at(-1)).toBe(0);
      }
      expect(isolated.replaceAll(/[\u2066-\u2069]/g, '')).toBe(text.replaceAll(/[\u2066-\u2069]/g, ''));
    }),
  );
});

test('leaves text without direction controls unchanged, in any language', () => {
  for (const text of ['Anna', 'אנה', 'a\nb', '']) expect(isolate(text)).toBe(text);
});

test('isolates inserted values, so that direction controls in a name do not affect the sentence', () => {
  expect(t('{name} is let in.', { name: 'Ben\u202e' })).toBe('\u2068Ben\u202e\u2069 is let in.');
  expect(pieces('{who} on {place}', { who: 'Ben\u202e', place: 'Telegram' })).toEqual([
    '',
    '\u2068Ben\u202e\u2069',
    ' on ',
    'Telegram',
    '',
  ]);
  const name = createElement('b', null, 'Ben\u2069\u202e');
  expect(renderToStaticMarkup(Rich({ text: '{name} is let in.', name }))).toBe('<b>\u2068Ben\u202e\u2069</b> is let in.');
});
