import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { createSecretMatcher } from '@svc/service-kit/redaction/secret-matcher.ts';
import { createStreamRedactor, type StreamRedactor } from '@svc/service-kit/redaction/stream-redactor.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { readings } from './fixtures/decoders.ts';
import { encoders, type Random } from './fixtures/encoders.ts';

/** As in `text-detector.test.ts`: the deep run searches with new seeds, other runs use a fixed one. */
const seed = process.env['TEST_DEEP'] === '1' ? undefined : 20_261_127;
const perList = 25;
const lists = process.env['TEST_MUTANTS'] === '1' ? 20 : usualOrDeep(100, 400);
const mask = '[redacted:secret]';
const names = Object.keys(encoders);

/** Combinations that amount to three encodings, reverse escapes, are ambiguous (`\xdf\xad`), or put a line end after a backslash of the value. */
const isLeftOut = (outer: string, inner: string, secret: string): boolean =>
  (outer === 'reversed' && !/^(?:base|hex|reversed)/.test(inner)) ||
  (/^(?:form|reversed)/.test(outer) && inner.endsWith('indented')) ||
  (/unicode_escape|any of/.test(outer) && inner.startsWith('soft hyphens')) ||
  (inner === 'lines' && secret.includes('\\'));

const alphabets = [
  'ABCDEFabcdefghijklmnopqrstuvwxyz0123456789-_.~',
  'abcXYZ019 !"#$%&\'()*+,/:;<=>?@[\\]^`{|}~',
  'abXY01 äöüßéпарольключ秘密😀€-_$%&\\',
].map((chars) => Array.from(chars));
const secrets = fc.constantFrom(...alphabets).chain((chars) =>
  fc
    .array(fc.constantFrom(...chars), { minLength: 12, maxLength: 40 })
    // A backslash before a zero disappears when it is escaped twice: see the manual.
    .map((parts) =>
      parts
        .join('')
        .replaceAll(/ {2,}|\\0/g, '_')
        .trim(),
    )
    .filter((text) => text.length >= 10 && new Set(text).size > 6),
);
const composition = fc.record({
  secret: fc.nat(3),
  outer: fc.constantFrom(...names),
  inner: fc.constantFrom(...names),
  seed: fc.nat(),
  before: fc.constantFrom('', 'see ', 'x=', '"', 'key: ', 'a/b/', '\n', 'The token is\n'),
  after: fc.constantFrom('', '.', ' and so on', '"', '=', '\n', '&x=1'),
  cut: fc.integer({ min: 1, max: 40 }),
});

function randomFrom(seed: number): Random {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

/** True when eight consecutive characters of the value, or three fifths of a short one, can be read in the rest. */
function isReadable(text: string, secret: string): boolean {
  const length = Math.min(8, Math.ceil(secret.length * 0.6));
  const plain = secret.replaceAll('\n', '');
  const all = [...readings(text)].filter((reading) => reading.length >= length);
  for (let at = 0; at + length <= plain.length; at++) {
    if (all.some((reading) => reading.includes(plain.slice(at, at + length)))) return true;
  }
  return false;
}

const inPieces = (stream: StreamRedactor, text: string, size: number): string => {
  let out = '';
  for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
  return out + stream.end();
};

test('masks a known value in any two encodings, however a stream splits it', { timeout: 600_000 }, () => {
  const property = fc.property(
    fc.tuple(secrets, secrets, secrets, secrets),
    fc.array(composition, { minLength: perList, maxLength: perList }),
    (values, compositions) => {
      const redactor = createRedactor(values);
      for (const { secret: index, outer, inner, seed: randomSeed, before, after, cut } of compositions) {
        const secret = values[index]!;
        if (isLeftOut(outer, inner, secret)) continue;
        const random = randomFrom(randomSeed);
        const text = before + encoders[outer]!(encoders[inner]!(secret, random), random) + after;
        const masked = redactor.text(text);
        const name = `${outer} of ${inner}: ${JSON.stringify({ secret, text, masked })}`;
        expect(masked, name).toContain('[redacted:');
        expect(isReadable(masked.replaceAll(/\[redacted:[a-z-]+\]/g, ' '), secret), name).toBe(false);
        expect(inPieces(redactor.stream(), text, cut), name).toBe(masked);
        expect(redactor.value({ [text]: [text] }), name).toEqual({ [masked]: [masked] });
      }
    },
  );
  fc.assert(property, { numRuns: lists, endOnFailure: true, seed });
});

test('a stream masks the same as the complete text, and leaves no value in it', { timeout: 600_000 }, () => {
  const values = [
    'n41bcdef-x7',
    'abababac-1',
    'zzzzzzzz',
    '%41%42abcd',
    'a\\u0041b&amp;c',
    'пароль-тайна',
    'deadbeef00112233',
    'ends-with-%4',
  ];
  const redactor = createRedactor(values);
  const matcher = createSecretMatcher(values);
  const fragments = [
    '\\',
    '\\u',
    '\\u00',
    '%',
    '%4',
    '&',
    '&#x4',
    '\n',
    '\r\n',
    '  ',
    '\u200b',
    '\0',
    'ab',
    'z',
    'dead',
    '41',
    'AAAA',
    'c3',
    'Ã',
    '\u00ad',
  ];
  const long = ['a'.repeat(20), '\\'.repeat(70), '\n'.repeat(70), '%25', '_'];
  const encoded = fc
    .tuple(fc.constantFrom(...values), fc.constantFrom(...names), fc.constantFrom(...names), fc.nat())
    .map(([value, outer, inner, seed]) => encoders[outer]!(encoders[inner]!(value, randomFrom(seed)), randomFrom(seed)));
  const cutOff = fc.tuple(fc.constantFrom(...values), fc.nat(12)).map(([value, length]) => value.slice(0, length));
  const part = fc.oneof(fc.constantFrom(...fragments, ...long), fc.constantFrom(...values), cutOff, encoded);
  const property = fc.property(fc.array(part, { maxLength: 14 }), fc.integer({ min: 1, max: 20 }), (parts, size) => {
    const text = parts.join('');
    const masked = redactor.known(text);
    expect(inPieces(createStreamRedactor(matcher), text, size)).toBe(masked);
    for (const value of values) expect(masked).not.toContain(value);
  });
  fc.assert(property, { numRuns: usualOrDeep(1500, 3000) });
});

test.each(names)('the reader of this test finds a value that is not masked: %s', (outer) => {
  const secret = 'correct-Horse7battery$Staple';
  for (const inner of names.filter((name) => !isLeftOut(outer, name, ''))) {
    const text = encoders[outer]!(encoders[inner]!(secret, randomFrom(7)), randomFrom(9));
    expect(isReadable(text, secret), inner).toBe(true);
  }
});

test('keeps a value that differs in one character', () => {
  const redactor = createRedactor(['sk-svc-Zp9$kQ2"x7LmN4vB']);
  const near = 'sk-svc-Zp9$kQ3"x7LmN4vB';
  for (const [name, encode] of Object.entries(encoders)) {
    const text = `<${encode(near, randomFrom(3))}>`;
    expect(redactor.known(text), name).toBe(text);
  }
  expect(redactor.known(near)).not.toContain(mask);
});
