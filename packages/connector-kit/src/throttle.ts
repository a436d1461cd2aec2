import type { Clock } from '@svc/service-kit/clock.ts';

export type Throttle = {
  /**
   * Counts one attempt of an address, before its key is looked at. Returns 0, or the seconds to wait when there were too
   * many bad ones.
   */
  attempt(address: string): number;
  /** Takes the last attempt back: its key was good. */
  forgive(address: string): void;
};

export type ThrottleLimits = { perAddress: number; global: number; windowMs: number; maxAddresses: number };

const defaults: ThrottleLimits = { perAddress: 20, global: 200, windowMs: 60_000, maxAddresses: 10_000 };

type Window = { startedAt: number; count: number };

/** Limits failed attempts per address and over all, in fixed windows. Memory is bounded: the oldest address goes first. */
export function createThrottle(clock: Clock, limits: Partial<ThrottleLimits> = {}): Throttle {
  const { perAddress, global, windowMs, maxAddresses } = { ...defaults, ...limits };
  const windows = new Map<string, Window>();
  const all: Window = { startedAt: clock.elapsed(), count: 0 };

  const current = (window: Window, now: number): Window => {
    if (now - window.startedAt >= windowMs) {
      window.startedAt = now;
      window.count = 0;
    }
    return window;
  };
  const windowOf = (address: string, now: number): Window => {
    const known = windows.get(address);
    if (known !== undefined) return current(known, now);
    if (windows.size >= maxAddresses) {
      for (const oldest of windows.keys()) {
        windows.delete(oldest);
        break;
      }
    }
    const window = { startedAt: now, count: 0 };
    windows.set(address, window);
    return window;
  };
  const waitS = (window: Window, limit: number, now: number) =>
    window.count > limit ? Math.max(1, Math.ceil((window.startedAt + windowMs - now) / 1000)) : 0;

  return {
    attempt(address) {
      const now = clock.elapsed();
      const own = windowOf(address, now);
      own.count++;
      current(all, now).count++;
      return Math.max(waitS(own, perAddress, now), waitS(all, global, now));
    },
    forgive(address) {
      const own = windows.get(address);
      if (own !== undefined && own.count > 0) own.count--;
      if (all.count > 0) all.count--;
    },
  };
}
