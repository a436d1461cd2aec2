import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './redactor.ts';
import { placeholder } from './placeholder.ts';

const runs = process.env['TEST_DEEP'] === '1' ? 10_000 : process.env['TEST_MUTANTS'] === '1' ? 50 : 1000;
const secret = 'sk-svc-Zp9$kQ2"x7LmN4vB';

const stream = (redactor: ReturnType<typeof createRedactor>, pieces: string[]) => {
  const masked = redactor.stream();
  return pieces.map((piece) => masked.push(piece)).concat(masked.end());
};

test('a known value is masked', () => {
  expect(createRedactor([secret]).text(`key: ${secret}!`)).toBe(`key: ${placeholder}!`);
});

test.each([
  ['base64', (text: string) => Buffer.from(text).toString('base64')],
  ['base64 after one byte', (text: string) => Buffer.from(`a${text}`).toString('base64')],
  ['base64 between others', (text: string) => Buffer.from(`ab${text}cd`).toString('base64')],
  ['base64url', (text: string) => Buffer.from(text).toString('base64url')],
  ['hex', (text: string) => Buffer.from(text).toString('hex')],
  ['hex in capitals', (text: string) => Buffer.from(text).toString('hex').toUpperCase()],
  ['percent', encodeURIComponent],
  ['percent for every byte', (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')],
  ['JSON', (text: string) => JSON.stringify(text)],
  ['JSON in JSON', (text: string) => JSON.stringify(JSON.stringify(text))],
  ['lines of 7', (text: string) => text.replaceAll(/.{7}/g, '$&\n')],
  ['base64 in lines of 5', (text: string) => Buffer.from(text).toString('base64').replaceAll(/.{5}/g, '$&\r\n')],
])('a known value is masked when it is spelled as %s', (_name, spell) => {
  const out = createRedactor([secret]).text(`<<${spell(secret)}>>`);
  expect(out).toContain(placeholder);
  expect(out.length).toBeLessThan(`<<${placeholder}>>`.length + 8);
});

test('values shorter than eight characters are left alone', () => {
  expect(createRedactor(['test']).text('a test')).toBe('a test');
});

test('overlapping values leave one mask and nothing of either', () => {
  const out = createRedactor(['abcdefgh', 'efghijkl']).text('xabcdefghijkly');
  expect(out).toBe(`x${placeholder}y`);
});

test('a value that holds another leaves one mask', () => {
  const redactor = createRedactor(['bcdefghi', 'abcdefghijk', 'fghijklm']);
  expect(redactor.text('x abcdefghijk y')).toBe(`x ${placeholder} y`);
  expect(redactor.text('x abcdefghijklmn y')).toBe(`x ${placeholder}n y`);
  expect(redactor.text('bcdefghi bcdefghi')).toBe(`${placeholder} ${placeholder}`);
});

test('keys and nested strings of a value are masked', () => {
  expect(createRedactor([secret]).value({ [secret]: [secret, 1, null] })).toEqual({ [placeholder]: [placeholder, 1, null] });
});

test('a stream gives the same as the whole text, and never a part of a secret, however it is cut', () => {
  const secrets = ['abababac-1', 'babac-1xyz', 'zzzzzzzz'];
  const redactor = createRedactor(secrets);
  const text = fc
    .array(fc.constantFrom(...secrets, 'ab', 'a', 'bab', 'z', 'zzzz', ' ', '\n'), { maxLength: 20 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 64 }), (whole, size) => {
      const pieces = whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const out = stream(redactor, pieces);
      expect(out.join('')).toBe(redactor.text(whole));
      for (const value of secrets) expect(out.join('')).not.toContain(value);
    }),
    { numRuns: runs },
  );
});

test('redacting twice changes nothing more', () => {
  const redactor = createRedactor([secret]);
  const once = redactor.text(`a ${secret} b`);
  expect(redactor.text(once)).toBe(once);
});

test('text that cannot begin a secret leaves at once', () => {
  const masked = createRedactor([secret]).stream();
  expect(masked.push('hello there')).toBe('hello there');
});

test('a value nested beyond reason is cut, not a fault', () => {
  let value: unknown = secret;
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  const out = JSON.stringify(createRedactor([secret]).value(value));
  expect(out).not.toContain(secret);
  expect(out.length).toBeLessThan(1000);
});

test('a text that is nothing but secrets takes time in its length, not in its square', () => {
  const redactor = createRedactor([secret]);
  const times = process.env['TEST_MUTANTS'] === '1' ? 500 : 50_000;
  const since = performance.now();
  expect(redactor.text(secret.repeat(times))).toBe(placeholder.repeat(times));
  expect(performance.now() - since).toBeLessThan(3000);
});

test('a value of lines is masked however they are ended, and a long value in lines of 76 of base64', () => {
  const value = Array.from({ length: 6 }, (_, i) => `line ${i} of a key, `.repeat(3)).join('\n');
  const redactor = createRedactor([value]);
  expect(redactor.text(`<<${value.replaceAll('\n', '\r\n')}>>`)).toBe(`<<${placeholder}>>`);
  const wrapped = Buffer.from(`some words before ${value}`).toString('base64').replaceAll(/.{76}/g, '$&\n');
  expect(redactor.text(wrapped).length).toBeLessThan(60);
});

test('values of other scripts are masked', () => {
  const redactor = createRedactor(['пароль-это-тайна', 'x秘密の合言葉です']);
  expect(redactor.text('а пароль-это-тайна и x秘密の合言葉です.')).toBe(`а ${placeholder} и ${placeholder}.`);
});

describe('R12: links for the public, where only some hosts are allowed', () => {
  const only = createRedactor([], ['acme.io', 'www.other.org']);
  const link = '[redacted:link]';

  test.each([
    ['[a](https://evil.example/p?q=x)', `[a](${link})`],
    ['see http://evil.example:8080/x, www.evil.example/x', `see ${link} ${link}`],
    ['https://acme.io.evil.example/', link],
    ['https://acme.io@evil.example/', link],
    ['<https://notacme.io>', `<${link}>`],
  ])('%j leads elsewhere', (text, masked) => {
    expect(only.forPublic.text(text)).toBe(masked);
    expect(only.forPublic.text(masked)).toBe(masked);
    expect(stream(only.forPublic, Array.from(text)).join('')).toBe(masked);
    expect(only.text(text)).toBe(text);
    expect(createRedactor([]).forPublic.text(text)).toBe(text);
  });

  test.each(['[a](https://acme.io/p)', 'https://docs.ACME.io./x', 'http://www.acme.io', 'https://other.org/', 'awww.no/x'])(
    '%j stays',
    (text) => expect(only.forPublic.text(text)).toBe(text),
  );
});
