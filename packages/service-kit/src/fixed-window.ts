import type { Clock } from './clock.ts';
import { forgetOldest } from './forget-oldest.ts';

type Options = {
  /** Events of one key that are allowed in a window. */
  max: number;
  windowMs: number;
  /** Keys that are counted at a time. Above it the key whose window began first is forgotten. */
  maxKeys?: number;
};

/** A rate limit by key, in windows that begin with the first event of the key. */
export type FixedWindow = {
  /** Counts an event. Returns 0, or the ms until the window ends if the limit is exceeded. */
  count(key: string): number;
  /** The same for an event now, without counting it. */
  waitMs(key: string): number;
  /** Uncounts the last event. */
  uncount(key: string): void;
};

type Window = { startedAt: number; events: number };

export function createFixedWindow(clock: Pick<Clock, 'elapsed'>, { max, windowMs, maxKeys = 10_000 }: Options): FixedWindow {
  const windows = new Map<string, Window>();

  const current = (key: string): Window | undefined => {
    const window = windows.get(key);
    return window !== undefined && clock.elapsed() - window.startedAt < windowMs ? window : undefined;
  };
  /** Kept in the order of their start, so that the first is the oldest. */
  const open = (key: string): Window => {
    windows.delete(key);
    const window = { startedAt: clock.elapsed(), events: 0 };
    windows.set(key, window);
    forgetOldest(windows, maxKeys);
    return window;
  };
  const leftMs = ({ startedAt }: Window): number => startedAt + windowMs - clock.elapsed();

  return {
    count(key) {
      const window = current(key) ?? open(key);
      window.events++;
      return window.events > max ? leftMs(window) : 0;
    },
    waitMs(key) {
      const window = current(key);
      return window !== undefined && window.events >= max ? leftMs(window) : 0;
    },
    uncount(key) {
      const window = current(key);
      if (window !== undefined && window.events > 0) window.events--;
    },
  };
}
