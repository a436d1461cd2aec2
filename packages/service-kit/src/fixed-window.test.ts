import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createFixedWindow } from './fixed-window.ts';

describe('createFixedWindow()', () => {
  test('allows the number of events per window, then returns the wait', () => {
    const clock = createFakeClock();
    const window = createFixedWindow(clock, { max: 2, windowMs: 1000 });
    expect([window.count('a'), window.count('a')]).toEqual([0, 0]);
    clock.advance(400);
    expect([window.count('a'), window.waitMs('a'), window.count('b')]).toEqual([600, 600, 0]);
    clock.advance(600);
    expect([window.waitMs('a'), window.count('a')]).toEqual([0, 0]);
  });

  test('waitMs() does not count', () => {
    const window = createFixedWindow(createFakeClock(), { max: 1, windowMs: 1000 });
    for (let i = 0; i < 10; i++) expect(window.waitMs('a')).toBe(0);
    expect([window.count('a'), window.waitMs('a')]).toEqual([0, 1000]);
  });

  test('uncount() frees a place', () => {
    const window = createFixedWindow(createFakeClock(), { max: 1, windowMs: 1000 });
    window.uncount('a');
    for (let i = 0; i < 10; i++) {
      expect(window.count('a')).toBe(0);
      window.uncount('a');
    }
  });

  test('over its number of keys, forgets the key whose window began first', () => {
    const clock = createFakeClock();
    const window = createFixedWindow(clock, { max: 1, windowMs: 1000, maxKeys: 2 });
    window.count('a');
    clock.advance(1000);
    window.count('b');
    window.count('a');
    window.count('c');
    expect([window.waitMs('a'), window.waitMs('b'), window.waitMs('c')]).toEqual([1000, 0, 1000]);
  });

  test('behaves like a list of events per key', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      what: fc.constantFrom('count', 'uncount', 'waitMs'),
      passMs: fc.nat({ max: 700 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, max) => {
        const clock = createFakeClock();
        const window = createFixedWindow(clock, { max, windowMs: 1000 });
        const model = new Map<string, { from: number; events: number }>();
        for (const { key, what, passMs } of steps) {
          clock.advance(passMs);
          const now = clock.elapsed();
          const known = model.get(key);
          let own = known !== undefined && now - known.from < 1000 ? known : null;
          if (what === 'count') {
            own ??= { from: now, events: 0 };
            own.events++;
            model.set(key, own);
            expect(window.count(key)).toBe(own.events > max ? own.from + 1000 - now : 0);
          } else if (what === 'uncount') {
            window.uncount(key);
            if (own !== null) own.events = Math.max(0, own.events - 1);
          } else {
            expect(window.waitMs(key)).toBe(own !== null && own.events >= max ? own.from + 1000 - now : 0);
          }
        }
      }),
    );
  });
});
