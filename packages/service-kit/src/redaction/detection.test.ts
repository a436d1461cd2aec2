import { expect, test } from 'vitest';
import { detect, detectInLog } from './detection.ts';
import type { StreamRedactor } from './stream-redactor.ts';

const through = (stream: StreamRedactor, text: string) => stream.push(text) + stream.end();
const random = 'A1b2C3d4E5f6G7h8I9j0';
const key = `key = ${random} `;
const apiKey = `api_key = ${random} `;
const pat = `ghp_${random}${random.slice(0, 16)} `;

// Tests of the table of rules: it is created once, for the first text.
test('in the log, masks tokens and structures, but no unquoted values of names', () => {
  expect(through(detectInLog(), pat)).toBe('[redacted:token] ');
  expect(through(detectInLog(), `api_key="${random}"`)).toBe('api_key="[redacted:credential]"');
  expect(through(detectInLog(), 'https://a:s3cr3t-1@x.io dckr_pat_A1b2C3d4E5f6G7h8I9j0K1l2M3n')).toBe(
    'https://a:[redacted:password]@x.io [redacted:token]',
  );
  const known = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq';
  expect(through(detectInLog(), known)).toBe('-----BEGIN PRIVATE KEY-----[redacted:private-key]');
  for (const plain of [apiKey, 'joe@acme.io', 'sonar_login = abcdef0123456789abcdef0123456789abcdef01']) {
    expect(through(detectInLog(), plain)).toBe(plain);
  }
  expect(detectInLog().push('plain words')).toBe('plain words');
});

test('in private, also masks values of names that mean secret', () => {
  expect(through(detect('private'), pat + apiKey)).toBe('[redacted:token] api_key = [redacted:credential] ');
  for (const plain of [key, 'joe@acme.io', 'https://x.io/']) expect(through(detect('private'), plain)).toBe(plain);
});

test('masks what follows a keyword whether or not it is the value of a name', () => {
  expect(through(detect('private'), `token: Bearer ${random}`)).toBe('token: Bearer [redacted:credential]');
  expect(through(detect('public'), String.raw`the key is in C:\Users\anna\x`)).toBe(
    String.raw`the key is in C:\Users\[redacted:path]\x`,
  );
});

test('in public, also masks values of any such name, and personal data', () => {
  expect(through(detect('public'), `${key}joe@acme.io https://x.io/`)).toBe(
    'key = [redacted:credential] [redacted:email] https://x.io/',
  );
});

test('in public with allowed hosts, also masks links', () => {
  expect(through(detect('public', ['x.io']), 'https://x.io/ https://y.io/')).toBe('https://x.io/ [redacted:link]');
  expect(through(detect('public', ['y.io']), 'https://x.io/ https://y.io/')).toBe('[redacted:link] https://y.io/');
  expect(through(detect('private', ['x.io']), 'https://y.io/')).toBe('https://y.io/');
});
