import { expect, test } from 'vitest';
import { freeKeyOf } from './person-key.ts';

const called = (...keys: string[]) => keys.map((key) => ({ key }));

test('a key is made of the plain letters of a name', () => {
  expect(freeKeyOf(' Zo\u00eb  K. ', [])).toBe('zoe-k');
  expect(freeKeyOf('x'.repeat(80), [])).toBe('x'.repeat(40));
});

test('a name in another script gets a key too', () => {
  expect(freeKeyOf('\u738b\u4f1f', [])).toBe('guest');
  expect(freeKeyOf('\u0639\u0644\u064a', called('guest', 'guest-2'))).toBe('guest-3');
});

test('a key in use is not chosen again, ignoring case', () => {
  expect(freeKeyOf('Ben', called('ben'))).toBe('ben-2');
  expect(freeKeyOf('Ben', called('Ben', 'ben-2'))).toBe('ben-3');
});
