import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isQuietWhole } from './quiet-whole.ts';
import { createSecretMatcher, type SecretMatcher } from './secret-matcher.ts';
import { createStreamRedactor } from './stream-redactor.ts';

const secrets = [
  'Cnry7Var2kQzLwXp',
  'a pass phrase',
  'k+y/with=signs77',
  'hunter22',
  'двa-слова-тайны',
  '4111222233',
  'abc\ndefghi jk',
];
const oneByOne = secrets.map((secret) => [secret]);

function masked(text: string, matcher: SecretMatcher): string {
  const stream = createStreamRedactor(matcher);
  return stream.push(text) + stream.end();
}

const spellings: ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll(' ', '+'),
  (text) => text.replace(' ', '\u00a0'),
  (text) => encodeURIComponent(text),
  (text) => JSON.stringify(text),
  (text) => `\\${text}`,
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('hex'),
  (text) => Buffer.from(Buffer.from(text).toString('base64url')).toString('base64'),
  (text) => Buffer.from(text, 'utf16le').toString('base64'),
  (text) => Array.from(text).toReversed().join(''),
  (text) => text.slice(0, -1),
  (text) => text.replaceAll(/.{3}/g, '$&\n'),
];
const spelled = fc.tuple(fc.constantFrom(...secrets), fc.constantFrom(...spellings)).map(([secret, spell]) => spell(secret));
const around = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...Array.from('abcAB01/+-_ "{}:,.\n\\%&\u00a0\u200b')), maxLength: 20 }),
);
const text = fc.array(fc.oneof(around, spelled), { maxLength: 6 }).map((parts) => parts.join(''));

test.each([...oneByOne, secrets])('masking would not change a text that is reported as quiet', (...known) => {
  const matcher = createSecretMatcher(known);
  fc.assert(
    fc.property(text, (given) => {
      fc.pre(isQuietWhole(given, matcher));
      expect(masked(given, matcher)).toBe(given);
    }),
    { numRuns: 400 },
  );
});

test('reports no spelling of a secret as quiet, at any position', () => {
  for (const secret of secrets) {
    const matcher = createSecretMatcher([secret]);
    for (const spell of spellings) {
      for (let before = 0; before < 40; before++) {
        const given = `${'. '.repeat(before).slice(0, before)}${spell(secret)}`;
        if (masked(given, matcher) !== given) expect(isQuietWhole(given, matcher)).toBe(false);
      }
    }
  }
});

test('reports an ordinary event as quiet', () => {
  const matcher = createSecretMatcher([
    'sk-4f9d0c1b2a3e4d5c6b7a8f9e0d1c2b3a4f5e6d7c',
    'm3Xb0sR9yqH8uPz2LkVtJ1dWc7aQ5eNf6gToIiUuYyA',
  ]);
  const event = {
    id: 'evt_1k81a800n00aqxeyk7w',
    ts: 1,
    session: 'compat:api-key:compat:1k81a800n00',
    text: 'one two '.repeat(200),
  };
  expect(isQuietWhole(JSON.stringify(event), matcher)).toBe(true);
});
