import type { Clock } from './clock.ts';
import { forgetOldest } from './forget-oldest.ts';

type Options = {
  /** Events of one key that a window lets through. */
  max: number;
  windowMs: number;
  /** Keys that are counted at a time. Past it the key whose window began first is forgotten. */
  maxKeys?: number;
};

/** Limits how often something happens: by key, in windows that begin with the first event of the key. */
export type FixedWindow = {
  /** Counts an event. Gives 0, or the ms until the window ends when the event is one too many. */
  count(key: string): number;
  /** The same without counting: of an event that would come now. */
  waitMs(key: string): number;
  /** Takes the last event back. */
  uncount(key: string): void;
};

type Window = { startedAt: number; events: number };

export function createFixedWindow(clock: Pick<Clock, 'elapsed'>, { max, windowMs, maxKeys = 10_000 }: Options): FixedWindow {
  const windows = new Map<string, Window>();

  const current = (key: string): Window | undefined => {
    const window = windows.get(key);
    return window !== undefined && clock.elapsed() - window.startedAt < windowMs ? window : undefined;
  };
  /** In the order of their beginning, so that the first is the oldest. */
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
