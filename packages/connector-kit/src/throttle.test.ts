import { describe, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createThrottle } from './throttle.ts';

describe('throttle of bad keys', () => {
  test('allows 20 attempts a minute, then returns the seconds to wait', () => {
    const clock = createFakeClock();
    const throttle = createThrottle(clock);
    for (let i = 0; i < 20; i++) expect(throttle.attempt('a')).toBe(0);
    clock.advance(10_000);
    expect(throttle.attempt('a')).toBe(50);
    clock.advance(50_000);
    expect(throttle.attempt('a')).toBe(0);
  });

  test('does not count successful attempts', () => {
    const throttle = createThrottle(createFakeClock());
    for (let i = 0; i < 1_000; i++) {
      expect(throttle.attempt('a')).toBe(0);
      throttle.forgive('a');
    }
  });

  test('limits each address and all of them together', () => {
    const throttle = createThrottle(createFakeClock(), { perAddress: 2, global: 6 });
    for (const address of ['a', 'a', 'b', 'b', 'c', 'c']) expect(throttle.attempt(address)).toBe(0);
    expect(throttle.attempt('d')).toBeGreaterThan(0);
  });

  test('remembers a bounded number of addresses', () => {
    const throttle = createThrottle(createFakeClock(), { perAddress: 1, global: 1e9, maxAddresses: 2 });
    throttle.attempt('a');
    throttle.attempt('b');
    throttle.attempt('c');
    expect(throttle.attempt('a')).toBe(0);
    expect(throttle.attempt('c')).toBeGreaterThan(0);
  });
});
