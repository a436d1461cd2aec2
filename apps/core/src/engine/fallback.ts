import type { Clock } from '@svc/service-kit/clock.ts';
import { roundedDuration } from '@svc/service-kit/words.ts';
import type { RunFailure } from '../turn/run-limits.ts';
import { isEngineId, type EngineId } from './load-engine.ts';

/** The engines to try in a turn, in order, and those that are passed over, with the reason as text. */
export type EngineOrder = { ids: readonly string[]; passedOver: readonly string[] };

/**
 * Which engines stand in for the default one. An engine that failed is passed over for a while, one at a limit with a
 * known end until then. This is kept only in memory.
 */
export type EngineFallback = {
  /** Starts with `first`, the default engine, unless it is passed over. Never empty. */
  order(first: string): EngineOrder;
  /** True when another engine may be tried after such a failure. */
  stands(code: RunFailure['code']): boolean;
  failed(id: string, failure: RunFailure): void;
  answered(id: string): void;
  /** Why an engine is passed over at the moment; null when it is not. */
  notice(id: string): string | null;
};

/** `isLimit`: the end of the limit is known, so trying earlier is pointless. */
type Cooldown = { until: number; why: string; isLimit: boolean };

/** For failures without a known end. */
const cooldownMs = 30_000;
/** A limit may be lifted early, so the vendor is tried again after a day. */
const maxCooldownMs = 24 * 3_600_000;

/** Out of quota, not logged in, overloaded or down: faults that another engine may not have. */
const fallbackCodes = new Set<RunFailure['code']>([
  'engine_rate_limited',
  'engine_overloaded',
  'engine_not_installed',
  'engine_not_logged_in',
  'engine_auth_failed',
  'engine_api_key_refused',
  'engine_endpoint_down',
  'engine_crashed',
  'engine_stalled',
]);

export function createEngineFallback(fallback: readonly string[], clock: Pick<Clock, 'elapsed'>): EngineFallback {
  const cooldowns = new Map<string, Cooldown>();

  const cooldownOf = (id: string): Cooldown | null => {
    const cooldown = cooldowns.get(id);
    if (cooldown === undefined) return null;
    if (cooldown.until > clock.elapsed()) return cooldown;
    cooldowns.delete(id);
    return null;
  };
  const words = (id: string, { until, why }: Cooldown) =>
    `${id} is passed over for ${roundedDuration(until - clock.elapsed())}: ${why}`;

  return {
    order(first) {
      const ids = [first, ...fallback.filter((id) => id !== first)];
      if (cooldowns.size === 0) return { ids, passedOver: [] };
      const coolingDown = ids.flatMap((id) => {
        const cooldown = cooldownOf(id);
        return cooldown === null ? [] : [{ id, cooldown }];
      });
      const ready = ids.filter((id) => cooldownOf(id) === null);
      // When all are passed over, all are tried: one of them may work again.
      if (ready.length === 0) return { ids, passedOver: [] };
      const before = coolingDown.filter(({ id }) => ids.indexOf(id) < ids.indexOf(ready[0] ?? first));
      const mayBeBack = coolingDown.filter(({ cooldown }) => !cooldown.isLimit).map(({ id }) => id);
      return { ids: [...ready, ...mayBeBack], passedOver: before.map(({ id, cooldown }) => words(id, cooldown)) };
    },
    stands: (code) => fallbackCodes.has(code),
    failed(id, { code, message, retryAfterMs }) {
      if (fallback.length === 0 || !fallbackCodes.has(code)) return;
      const until = clock.elapsed() + Math.min(retryAfterMs ?? cooldownMs, maxCooldownMs);
      cooldowns.set(id, { until, why: message, isLimit: retryAfterMs !== undefined });
    },
    answered: (id) => void cooldowns.delete(id),
    notice(id) {
      const cooldown = cooldownOf(id);
      return cooldown === null ? null : words(id, cooldown);
    },
  };
}

/** An id from a setting that was checked. */
export const asEngineId = (id: string): EngineId => {
  if (!isEngineId(id)) throw new Error(`there is no engine ${id}`);
  return id;
};
