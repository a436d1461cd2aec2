import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identifierProblem, isSurface, lookOf, toIdentifierValue } from './identifier-value.ts';

const surfaces = ['email', 'issues', 'messenger', 'compat'];

test.each([
  ['anna', null],
  ['', 'is blank'],
  [' \t', 'is blank'],
  ['\u3000', 'is blank'],
  [' anna', 'begins or ends with a space'],
  ['anna ', 'begins or ends with a space'],
  ['anna\u00a0', 'begins or ends with a space'],
  ['an\ud800na', 'has broken characters'],
  ['an\u0000na', 'has control characters'],
  ['an\u0085na', 'has control characters'],
  ['an\u200bna', 'has invisible characters'],
  ['an\u00adna', 'has invisible characters'],
  ['anna\u202e', 'has invisible characters'],
  ['\u2066anna\u2069', 'has invisible characters'],
  ['anna\ufe0f', 'has invisible characters'],
  ['anna\u{e0061}', 'has invisible characters'],
  ['an\u115fna', 'has invisible characters'],
])('the value %j %s', (value, problem) => {
  for (const surface of surfaces) expect(identifierProblem(surface, value)).toBe(problem);
});

test.each([
  ['mi\u212ae@x.org', 'miKe@x.org'],
  ['ａnna', 'anna'],
  ['ﬁona', 'fiona'],
  ['Ⅳan', 'IVan'],
  ['anna①', 'anna1'],
  ['a\u00a0b', 'a b'],
  ['ſam', 'sam'],
  ['Ωmega'.replace('Ω', '\u2126'), 'Ωmega'],
  ['Zoe\u0308', 'Zoë'],
  ['a\u0323\u0307', 'ạ\u0307'],
  ['a\u0307\u0323', 'ạ\u0307'],
  ['ｶﾅ', 'カナ'],
])('%s is a compatibility form of %s, and is rejected with that advice', (value, plain) => {
  const problem = identifierProblem('messenger', value);
  expect(problem).toContain('has compatibility characters');
  expect(problem).toContain(plain);
});

test.each([
  'müller@example.org',
  'Zoë',
  'Ольга',
  '山田太郎',
  'γιώργος',
  'weiß',
  'ılgaz',
  'محمد',
  'किरण',
  '한글',
  '😀',
  'O’Neill',
  'Å',
  '@anna b',
])('the name %s is accepted on every channel and stored unchanged where case matters', (value) => {
  for (const surface of surfaces) {
    expect(identifierProblem(surface, value)).toBeNull();
    const stored = toIdentifierValue(surface, value);
    expect(toIdentifierValue(surface, stored)).toBe(stored);
  }
  expect(toIdentifierValue('messenger', value)).toBe(value);
});

test('channel names are short and lowercase', () => {
  expect(['a', 'compat', 'a-b_9', 'a'.repeat(32)].map(isSurface)).toEqual([true, true, true, true]);
  expect(['', '9a', 'A', 'a b', 'aB', 'a'.repeat(33), '__proto__', null, 7, '\u212a', 'ﬁ'].some(isSurface)).toBe(false);
});

test('case is ignored on channels that ignore it', () => {
  expect(['email', 'issues', 'chatroom'].map((surface) => toIdentifierValue(surface, 'AnNa'))).toEqual(['anna', 'anna', 'AnNa']);
  expect(['MÜLLER', 'ОЛЬГА', 'ΑΘΗΝΑ', 'ﾏ'].map((value) => toIdentifierValue('email', value))).toEqual([
    'müller',
    'ольга',
    'αθηνα',
    'ﾏ',
  ]);
});

test.each([
  'mi\u212ae',
  'MIſ',
  'İ',
  'ı',
  'weiß',
  'WEIẞ',
  'ﬁ',
  'ＭＩＫＥ',
  'ὈΔΟΣ\u200b',
  '\u212b',
  'ǅ',
  'ϴ',
  'mike\u200b',
  'mike ',
])('ignoring case does not turn %j into another name', (value) => {
  for (const plain of ['mike', 'mis', 'i', 'weiss', 'weiß', 'fi', 'å', 'ǆ', 'θ'].filter((each) => each !== value)) {
    expect(toIdentifierValue('email', value)).not.toBe(plain);
  }
});

describe('identifiers over all of Unicode', () => {
  /** Pieces of names that look, sound, fold or normalize alike. */
  const alike = fc.constantFrom(
    'k',
    'K',
    '\u212a',
    'i',
    'I',
    'ı',
    'İ',
    'i\u0307',
    's',
    'S',
    'ſ',
    'ß',
    'ẞ',
    'ss',
    'SS',
    'ﬁ',
    'fi',
    'a',
    'ａ',
    'Ａ',
    'Å',
    '\u212b',
    'å',
    'σ',
    'ς',
    'Σ',
    'Ω',
    '\u2126',
    'ω',
    'J\u030c',
    'ǰ',
    'ŉ',
    'ǅ',
    'ǆ',
    'Ǆ',
    'e\u0301',
    'é',
    'É',
    '\u200b',
    '\u200d',
    '\u202e',
    '\u034f',
    ' ',
    '\u00a0',
    'ͅ',
    'ᾳ',
    'Ꭰ',
    'ꭰ',
    '\ud800',
  );
  const unit = fc.oneof(alike, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }));
  const name = fc.array(unit, { minLength: 1, maxLength: 5 }).map((units) => units.join(''));
  const surface = fc.constantFrom(...surfaces);
  const rewritten = fc.constantFrom<(text: string) => string | null>(
    () => null,
    (text) => text.toLowerCase(),
    (text) => text.toUpperCase(),
    (text) => text.normalize('NFKC'),
    (text) => text.normalize('NFD'),
    (text) => text.toUpperCase().toLowerCase(),
    (text) => text.trim(),
    (text) => text.replace(/\p{Cf}/gu, ''),
    (text) => text.toWellFormed(),
  );
  const areCases = (a: string, b: string) =>
    a === b || (a.toLowerCase() === b && b.toUpperCase() === a) || (b.toLowerCase() === a && a.toUpperCase() === b);

  test('are equal only when they differ in the case of single letters', () => {
    fc.assert(
      fc.property(surface, name, name, rewritten, (where, a, other, rewrite) => {
        const b = rewrite(a) ?? other;
        if (a === b || toIdentifierValue(where, a) !== toIdentifierValue(where, b)) return;
        const [left, right] = [Array.from(a), Array.from(b)];
        expect(['email', 'issues']).toContain(where);
        expect(left).toHaveLength(right.length);
        expect(left.every((letter, i) => areCases(letter, right[i]!))).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });

  test('match only a sender that looks the same', () => {
    const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const;
    fc.assert(
      fc.property(surface, name, fc.constantFrom(...forms), (where, sender, form) => {
        for (const added of [sender.normalize(form), sender.toLowerCase(), sender.toUpperCase(), sender.trim()]) {
          if (identifierProblem(where, added) !== null || toIdentifierValue(where, added) !== toIdentifierValue(where, sender))
            continue;
          expect(lookOf(where, added)).toBe(lookOf(where, sender));
          expect(identifierProblem(where, sender)).toBeNull();
        }
      }),
      { numRuns: 20_000 },
    );
  });

  test('are stored in a valid, idempotent form', () => {
    fc.assert(
      fc.property(surface, name, (where, value) => {
        if (identifierProblem(where, value) !== null) return;
        const stored = toIdentifierValue(where, value);
        expect(identifierProblem(where, stored)).toBeNull();
        expect(toIdentifierValue(where, stored)).toBe(stored);
        expect(stored.normalize('NFKC')).toBe(stored);
        expect(lookOf(where, stored)).toBe(lookOf(where, value));
      }),
      { numRuns: 20_000 },
    );
  });
});
