import { expect, test } from 'vitest';
import { createInterrupts } from './interrupts.ts';

function open() {
  const done: string[] = [];
  const at: { turn: object | null; typed: boolean } = { turn: null, typed: false };
  const interrupts = createInterrupts({
    current: () => at.turn,
    stop: () => done.push('stop'),
    leave: () => done.push('leave'),
    clear: () => at.typed && (done.push('clear'), (at.typed = false), true),
    warn: () => done.push('warn'),
  });
  return { at, done, interrupts };
}

test('the first Ctrl-C stops the turn, and the second leaves even if the turn has ended', () => {
  for (const hasEnded of [false, true]) {
    const { at, done, interrupts } = open();
    at.turn = {};
    interrupts.press();
    expect(interrupts.isStopping(at.turn)).toBe(true);
    if (hasEnded) at.turn = null;
    interrupts.press();
    expect(done).toEqual(['stop', 'leave']);
  }
});

test('Ctrl-C stops another turn that has begun in the meantime before it leaves', () => {
  const { at, done, interrupts } = open();
  at.turn = {};
  interrupts.press();
  at.turn = {};
  interrupts.press();
  interrupts.press();
  expect(done).toEqual(['stop', 'stop', 'leave']);
});

test('Ctrl-C without a turn clears the input, then warns, then leaves', () => {
  const { at, done, interrupts } = open();
  at.typed = true;
  for (let n = 0; n < 3; n++) interrupts.press();
  expect(done).toEqual(['clear', 'warn', 'leave']);
});

test('any other key resets the warning', () => {
  const { done, interrupts } = open();
  interrupts.press();
  interrupts.reset();
  interrupts.press();
  expect(done).toEqual(['warn', 'warn']);
});
