import type { Clock } from '@svc/service-kit/clock.ts';
import { ApiError } from './api-types.ts';

export type RateLimit = { count: number; perMs: number };

export type DiscordLimits = {
  /** The total of a bot; answers to interactions do not count. */
  globalPerSecond: number;
  /** By operation; counted separately for each channel, guild or webhook. */
  buckets: Record<string, RateLimit>;
  other: RateLimit;
  /** The number of refused requests that is recorded as an offence: Discord bans the address at 10,000 in ten minutes. */
  mostInvalid: number;
};

export const usualLimits: DiscordLimits = {
  globalPerSecond: 50,
  buckets: {
    create_message: { count: 5, perMs: 5000 },
    update_message: { count: 5, perMs: 5000 },
    delete_message: { count: 5, perMs: 1000 },
    add_my_message_reaction: { count: 1, perMs: 300 },
    delete_my_message_reaction: { count: 1, perMs: 300 },
    trigger_typing_indicator: { count: 5, perMs: 5000 },
    create_dm: { count: 5, perMs: 5000 },
    execute_webhook: { count: 5, perMs: 5000 },
    update_original_webhook_message: { count: 5, perMs: 5000 },
    update_webhook_message: { count: 5, perMs: 5000 },
  },
  other: { count: 10, perMs: 5000 },
  mostInvalid: 100,
};

/** A request during the wait that an earlier refusal demanded. */
export type Offence = { operation: string; place: string; early: boolean; retryAfterS: number; at: number };

export type LimitedCall = { operation: string; place: string; token: string; isExempt: boolean };
export type RateLimits = {
  /** Counts a request, and returns the headers of its answer. @throws ApiError when it exceeds a limit. */
  take(call: LimitedCall): Record<string, string>;
  /** All refused requests. */
  refused: Offence[];
};

type Window = { left: number; resetAt: number; waitUntil: number };

/** Buckets as documented. `timeScale`: how much faster their time goes; clients then wait accordingly shorter. */
export function createRateLimits(rules: DiscordLimits | null, clock: Clock, timeScale: number): RateLimits {
  const windows = new Map<string, Window>();
  const refused: Offence[] = [];

  /** Null when the window allows it; otherwise how long until it does. */
  const count = (name: string, limit: RateLimit, now: number): { window: Window; waitMs: number | null } => {
    const there = windows.get(name);
    const window =
      there === undefined || now >= there.resetAt ? { left: limit.count, resetAt: now + limit.perMs, waitUntil: 0 } : there;
    windows.set(name, window);
    if (window.left === 0) return { window, waitMs: window.resetAt - now };
    window.left--;
    return { window, waitMs: null };
  };

  return {
    refused,
    take({ operation, place, token, isExempt }): Record<string, string> {
      if (rules === null) return {};
      const now = clock.elapsed() * timeScale;
      const refuse = ({ window, waitMs }: { window: Window; waitMs: number | null }, scope: 'global' | 'user'): void => {
        if (waitMs === null) return;
        const retryAfterS = waitMs / 1000 / timeScale;
        refused.push({ operation, place, early: now < window.waitUntil, retryAfterS, at: performance.now() });
        window.waitUntil = now + waitMs;
        throw tooManyRequests(retryAfterS, scope);
      };
      if (!isExempt) refuse(count(`global ${token}`, { count: rules.globalPerSecond, perMs: 1000 }, now), 'global');
      const limit = rules.buckets[operation] ?? rules.other;
      const own = count(`${operation} ${place} ${token}`, limit, now);
      refuse(own, 'user');
      const resetS = (own.window.resetAt - now) / 1000 / timeScale;
      return {
        'x-ratelimit-limit': String(limit.count),
        'x-ratelimit-remaining': String(own.window.left),
        'x-ratelimit-reset': (clock.now() / 1000 + resetS).toFixed(3),
        'x-ratelimit-reset-after': resetS.toFixed(3),
        'x-ratelimit-bucket': Buffer.from(operation).toString('hex').slice(0, 32),
      };
    },
  };
}

export const tooManyRequests = (retryAfterS: number, scope: 'global' | 'user' | 'shared'): ApiError =>
  new ApiError(429, 0, 'You are being rate limited.', { retry_after: retryAfterS, global: scope === 'global' });
