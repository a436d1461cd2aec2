import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createPairingCodes } from './pairing.ts';

test('a code is valid for ten minutes, until its device is paired or a newer code is issued', () => {
  const clock = createFakeClock();
  const codes = createPairingCodes(clock);
  const { code, expiresAt } = codes.issue('d_1');
  expect([code.length >= 20, expiresAt - clock.now()]).toEqual([true, 600_000]);
  expect([codes.deviceOf('wrong'), codes.deviceOf(code), codes.deviceOf(code)]).toEqual([null, 'd_1', 'd_1']);
  codes.drop('d_1');
  expect([codes.deviceOf(code), codes.isOpen('d_1')]).toEqual([null, false]);
  const old = codes.issue('d_1').code;
  const fresh = codes.issue('d_1').code;
  expect([codes.deviceOf(old), codes.isOpen('d_1'), codes.deviceOf(fresh)]).toEqual([null, true, 'd_1']);
  const late = codes.issue('d_2').code;
  clock.advance(600_000);
  expect([codes.isOpen('d_2'), codes.deviceOf(late)]).toEqual([false, null]);
  const dropped = codes.issue('d_3').code;
  codes.drop('d_3');
  expect(codes.deviceOf(dropped)).toBeNull();
});

test('limits the number of open codes, and drops the oldest', () => {
  const codes = createPairingCodes(createFakeClock());
  const [first = '', ...more] = Array.from({ length: 201 }, (_, n) => codes.issue(`d_${n}`).code);
  expect([codes.deviceOf(first), codes.deviceOf(more.at(-1)!)]).toEqual([null, 'd_200']);
});
