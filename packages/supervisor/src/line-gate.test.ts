import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { describe, expect, test } from 'vitest';
import { createLineGate, gateLimits } from './line-gate.ts';

function setUp() {
  const clock = createFakeClock();
  const passed: string[] = [];
  const gate = createLineGate(clock, ({ text }) => passed.push(text));
  const push = (text: string) => gate.push({ stream: 'stdout', text });
  /** Writes lines of one KiB. */
  const flood = (lines: number) => Array.from({ length: lines }, (_, i) => push(`${i} `.padEnd(1024, 'x')));
  return { clock, gate, passed, push, flood };
}

describe('line gate', () => {
  test('passes lines on at once', () => {
    const { passed, push } = setUp();
    for (const text of ['a', 'b', 'c']) push(text);
    expect(passed).toEqual(['a', 'b', 'c']);
  });

  test('passes a burst, then the allowed rate, and the newest lines in the end', () => {
    const { clock, passed, flood } = setUp();
    flood(100_000);
    const burst = gateLimits.burstBytes / 1024;
    expect(passed).toHaveLength(burst);
    clock.advance(1000);
    const allowed = (gateLimits.bytesPerMs * 1000) / 1024;
    expect(passed.length).toBeGreaterThan(burst + allowed * 0.7);
    expect(passed.length).toBeLessThan(burst + allowed * 1.3);
    clock.advance(10_000);
    expect(passed.at(-1)).toMatch(/^99999 /);
    expect(passed).toHaveLength(burst + 1 + gateLimits.waiting);
  });

  test('inserts a notice where lines were dropped', () => {
    const { clock, passed, flood } = setUp();
    flood(1_756);
    clock.advance(20_000);
    const notice = passed.findIndex((text) => text.startsWith('['));
    expect(passed[notice]).toBe('[1000 lines (1.0 MiB) left out: the output came too fast]');
    expect([passed[notice - 1]?.slice(0, 5), passed[notice + 1]?.slice(0, 5)]).toEqual(['255 x', '1256 ']);
  });

  test('keeps the order while lines wait', () => {
    const { clock, passed, flood, push } = setUp();
    flood(300);
    clock.advance(50);
    push('last');
    clock.advance(10_000);
    expect(passed.at(-1)).toBe('last');
    expect(passed).toHaveLength(301);
  });

  test('drain() passes all waiting lines at once', () => {
    const { gate, passed, flood } = setUp();
    flood(600);
    gate.drain();
    expect(passed).toHaveLength(600);
  });

  test('does not delay lines when the clock is set back', () => {
    const clock = createFakeClock();
    const passed: string[] = [];
    const gate = createLineGate(clock, ({ text }) => passed.push(text));
    const push = () => gate.push({ stream: 'stdout', text: 'x'.repeat(1024) });
    for (let i = 0; i < gateLimits.burstBytes / 1024; i++) push();
    clock.setBack(3_600_000);
    for (let i = 0; i < 10; i++) push();
    clock.advance(1000);
    expect(passed).toHaveLength(gateLimits.burstBytes / 1024 + 10);
  });

  test('bounds the waiting text, however long the lines are', () => {
    const { gate, passed, push } = setUp();
    for (let i = 0; i < 1000; i++) push(`${i} `.padEnd(8 * 1024, 'x'));
    passed.length = 0;
    gate.drain();
    expect(passed.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(gateLimits.waitingCharacters + 100);
    expect(passed.at(-1)).toMatch(/^999 /);
    expect(passed[0]).toMatch(/^\[904 lines \(7\.1 MiB\) left out/);
  });
});
