import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNameIndex } from './name-index.ts';

/** An index whose values are the names. */
const index = (...names: string[]) => createNameIndex(names.map((name) => [name, name] as const));

describe('createNameIndex()', () => {
  test.each([
    ['gpt-5-mini-high', 'gpt-5-mini'],
    ['gpt-5-mini', 'gpt-5-mini'],
    ['gpt-5.9', 'gpt-5'],
    ['GPT-5-Mini', 'gpt-5-mini'],
    ['gpt-5', 'gpt-5'],
    ['gpt-4', null],
    ['my-gpt-5', null],
    ['', null],
  ])('finds for %s the longest name that it begins with: %s', (id, name) => {
    expect(index('gpt-5', 'gpt-5-mini', 'claude-opus-4')(id)).toBe(name);
  });

  test.each(['claude-x-20250929', 'claude-x@20250929', 'claude-x-2025-09-29', 'claude-x'])(
    '%s: ignores a date at the end of the id or of the name',
    (id) => {
      expect(index('claude-x')(id)).toBe('claude-x');
      expect(index('claude-x-20240101')(id)).toBe('claude-x-20240101');
    },
  );

  test('does not take a date for the version of a newer model', () => {
    expect(index('opus-4', 'opus-4-2')('opus-4-20250514')).toBe('opus-4');
  });

  test('prefers an exact name, date included', () => {
    const find = index('gpt-4o', 'gpt-4o-2024-05-13');
    expect(find('gpt-4o-2024-05-13')).toBe('gpt-4o-2024-05-13');
    expect(find('gpt-4o-2024-11-20')).toBe('gpt-4o');
    expect(find('gpt-4o')).toBe('gpt-4o');
  });

  test.each(['__proto__', 'constructor', 'toString', 'x'.repeat(100_000)])('treats %.20s like any other id', (id) => {
    expect(index('a')(id)).toBeNull();
    expect(index(id.slice(0, 200))(id)).toBe(id.slice(0, 200));
  });
});

test('treats a star at the end of a name as a wildcard', () => {
  expect(index('eleven_*', 'eleven_v3')('eleven_new_v9')).toBe('eleven_*');
  expect(index('eleven_*', 'eleven_v3')('eleven_v3')).toBe('eleven_v3');
});

const date = fc.constantFrom('', '-20250929', '-2025-09-29', '@20250101', '-1234');
const name = fc
  .tuple(fc.string({ unit: fc.constantFrom('a', 'b', '-', '.'), minLength: 1, maxLength: 5 }), date)
  .map((parts) => parts.join(''));
const withoutDate = (text: string) => text.replace(/-20250929$|-2025-09-29$|@20250101$/, '');
const lengthOf = (text: string | null) => (text === null ? -1 : text.length);

test('finds the longest name that begins the id, dates ignored, for any names', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 8 }), name, (names, id) => {
      const found = index(...names)(id);
      if (names.includes(id)) return found === id;
      const begins = names.flatMap((each) => [each, withoutDate(each)]).filter((each) => withoutDate(id).startsWith(each));
      const meant = found !== null && !withoutDate(id).startsWith(found) ? withoutDate(found) : found;
      return lengthOf(meant) === Math.max(-1, ...begins.map(lengthOf)) && (meant === null || begins.includes(meant));
    }),
    { numRuns: 500 },
  );
});
