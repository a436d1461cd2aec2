import type { FakeClock } from './fake-clock.ts';

/** Lets time pass on a clock that a test moves, in steps in each of which what is due runs to its end. */
export async function passTime(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    for (let turn = 0; turn < 8; turn++) await new Promise(setImmediate);
    clock.advance(Math.min(50, left));
  }
}

/** Lets time pass until `work` has come to its end, for at most 1,000 s. */
export async function passUntilOver<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const isOver = hasEnded(work);
  for (let step = 0; !isOver() && step < 20_000; step++) await passTime(clock, 50);
  return work;
}

/** Says of some work whether it has come to its end, well or not. */
export function hasEnded(work: Promise<unknown>): () => boolean {
  let isOver = false;
  const end = () => void (isOver = true);
  work.then(end, end);
  return () => isOver;
}
