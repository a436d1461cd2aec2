import type { Clock } from '@svc/service-kit/clock.ts';
import { createFixedWindow } from '@svc/service-kit/fixed-window.ts';

export type Throttle = {
  /** Counts one attempt of an address before its key is checked. Returns 0, or the seconds to wait after too many bad ones. */
  attempt(address: string): number;
  /** Takes the last attempt back, because its key was valid. */
  forgive(address: string): void;
};

export type ThrottleLimits = { perAddress: number; global: number; windowMs: number; maxAddresses: number };

const defaults: ThrottleLimits = { perAddress: 20, global: 200, windowMs: 60_000, maxAddresses: 10_000 };

/** Limits failed attempts per address and in total. Memory is bounded. */
export function createThrottle(clock: Clock, limits: Partial<ThrottleLimits> = {}): Throttle {
  const { perAddress, global, windowMs, maxAddresses } = { ...defaults, ...limits };
  const own = createFixedWindow(clock, { max: perAddress, windowMs, maxKeys: maxAddresses });
  const all = createFixedWindow(clock, { max: global, windowMs });
  const everybody = '';

  return {
    attempt: (address) => Math.ceil(Math.max(own.count(address), all.count(everybody)) / 1000),
    forgive(address) {
      own.uncount(address);
      all.uncount(everybody);
    },
  };
}
