import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createPairingCodes } from './pairing.ts';

test('a code is good once, for its device, for ten minutes, and not after a newer one', () => {
  const clock = createFakeClock();
  const codes = createPairingCodes(clock);
  const { code, expiresAt } = codes.issue('d_1');
  expect([code.length >= 20, expiresAt - clock.now()]).toEqual([true, 600_000]);
  expect([codes.take('wrong'), codes.take(code), codes.take(code)]).toEqual([null, 'd_1', null]);
  const old = codes.issue('d_1').code;
  const fresh = codes.issue('d_1').code;
  expect([codes.take(old), codes.isOpen('d_1'), codes.take(fresh), codes.isOpen('d_1')]).toEqual([null, true, 'd_1', false]);
  const late = codes.issue('d_2').code;
  clock.advance(600_000);
  expect([codes.isOpen('d_2'), codes.take(late)]).toEqual([false, null]);
  const dropped = codes.issue('d_3').code;
  codes.drop('d_3');
  expect(codes.take(dropped)).toBeNull();
});

test('so many devices are waited for at most', () => {
  const codes = createPairingCodes(createFakeClock());
  const [first = '', ...more] = Array.from({ length: 201 }, (_, n) => codes.issue(`d_${n}`).code);
  expect([codes.take(first), codes.take(more.at(-1)!)]).toEqual([null, 'd_200']);
});
