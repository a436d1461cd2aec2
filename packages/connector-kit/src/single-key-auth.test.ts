import { expect, test } from 'vitest';
import { singleKeyAuth } from './single-key-auth.ts';

const ann = { identity: 'ann', username: 'Ann' };

test.each([
  ['secret', 'secret', ann],
  ['secret', 'secre', null],
  ['secret', 'secrets', null],
  ['secret', '', null],
  // As Node hands over the bytes of a header.
  ['schlüssel', Buffer.from('schlüssel').toString('latin1'), ann],
])('the key %j asked for with %j is %j', (value, key, caller) => {
  expect(singleKeyAuth(value, ann).find(key)).toBe(caller);
});
