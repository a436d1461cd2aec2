import type { FakeClock } from './fake-clock.ts';

/** Advances a fake clock in steps; due work runs to its end in each step. */
export async function passTime(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    for (let turn = 0; turn < 8; turn++) await new Promise(setImmediate);
    clock.advance(Math.min(50, left));
  }
}

/** Advances the clock until `work` has settled, for at most 1,000 s. */
export async function passUntilOver<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const isOver = hasEnded(work);
  for (let step = 0; !isOver() && step < 20_000; step++) await passTime(clock, 50);
  return work;
}

/** Reports whether a promise has settled. */
export function hasEnded(work: Promise<unknown>): () => boolean {
  let isOver = false;
  const end = () => void (isOver = true);
  work.then(end, end);
  return () => isOver;
}
