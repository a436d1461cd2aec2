import { expect, test } from 'vitest';
import { holdsPlaceholder, refusePlaceholder } from './placeholder.ts';
import { createRedactor } from './redactor.ts';

test.each([
  ['[redacted:secret]'],
  [{ env: { TOKEN: 'Bearer [redacted:token]' } }],
  [[['[redacted:private-key]']]],
  [{ '[redacted:secret]': 1 }],
])('a value that holds a placeholder is refused: %j', (value) => {
  expect(() => refusePlaceholder(value, 'env')).toThrow(/env contains the placeholder of a masked value/);
});

test.each([['redacted'], [null], [7], [{ a: ['[redacted]', '[redacted: later]'] }]])('other values pass: %j', (value) => {
  expect(holdsPlaceholder(value)).toBe(false);
  expect(() => refusePlaceholder(value, 'env')).not.toThrow();
});

test('a secret that is a part of a placeholder does not mask the masks', () => {
  const redactor = createRedactor(['redacted', 'zq9-known-secret-77']);
  const once = redactor.text('zq9-known-secret-77');
  expect(redactor.text(once)).toBe(once);
});

test('a placeholder is found wherever it is in a value, and nothing is asked of other text', () => {
  expect(holdsPlaceholder({ a: 'x', b: [null, 1, { c: ['y', 'is [redacted:token].'] }] })).toBe(true);
  expect(holdsPlaceholder({ '[redacted:token]': 1, b: 2 })).toBe(true);
  expect([null, undefined, 7, true, '', '[redacted]', { a: [null] }].some((value) => holdsPlaceholder(value))).toBe(false);
});

test('a value nested beyond reason is not followed to its end', () => {
  let value: unknown = '[redacted:token]';
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  expect(holdsPlaceholder(value)).toBe(false);
});
