import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor } from './redactor.ts';
import { placeholder } from './placeholder.ts';

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
    { numRuns: process.env['TEST_DEEP'] === '1' ? 10_000 : 1000 },
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
  const since = performance.now();
  expect(redactor.text(secret.repeat(50_000))).toBe(placeholder.repeat(50_000));
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
