import { expect, test } from 'vitest';
import { holdsPlaceholder, refusePlaceholder } from './placeholder.ts';
import { createRedactor } from './redactor.ts';

test.each([
  ['[redacted:secret]'],
  [{ env: { TOKEN: 'Bearer [redacted:token]' } }],
  [[['[redacted:private-key]']]],
  [{ '[redacted:secret]': 1 }],
])('rejects a value that contains a placeholder: %j', (value) => {
  expect(() => refusePlaceholder(value, 'env')).toThrow(/env contains the placeholder of a masked value/);
});

test.each([['redacted'], [null], [7], [{ a: ['[redacted]', '[redacted: later]'] }]])('accepts other values: %j', (value) => {
  expect(holdsPlaceholder(value)).toBe(false);
  expect(() => refusePlaceholder(value, 'env')).not.toThrow();
});

test('does not mask placeholders, even if a secret is part of one', () => {
  const redactor = createRedactor(['redacted', 'zq9-known-secret-77']);
  const once = redactor.text('zq9-known-secret-77');
  expect(redactor.text(once)).toBe(once);
});

test('holdsPlaceholder() finds a placeholder anywhere in a value', () => {
  expect(holdsPlaceholder({ a: 'x', b: [null, 1, { c: ['y', 'is [redacted:token].'] }] })).toBe(true);
  expect(holdsPlaceholder({ '[redacted:token]': 1, b: 2 })).toBe(true);
  expect([null, undefined, 7, true, '', '[redacted]', { a: [null] }].some((value) => holdsPlaceholder(value))).toBe(false);
});

test('holdsPlaceholder() stops at a great depth', () => {
  let value: unknown = '[redacted:token]';
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  expect(holdsPlaceholder(value)).toBe(false);
});
