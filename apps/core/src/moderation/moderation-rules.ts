import { atLeast, type Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DenyRules } from './deny-rules.ts';

export type RuleLimits = { maxChars: number; floodPerMinute: number };
export type BrokenRule = 'size' | 'flood' | 'deny';

export const defaultLimits: RuleLimits = { maxChars: 100_000, floodPerMinute: 30 };

const rememberedSenders = 10_000;

/** The rules that need nobody: length, flood (senders below TRUSTED), and what the operator denies. */
export function createModerationRules({ maxChars, floodPerMinute }: RuleLimits, deny: DenyRules, clock: Clock) {
  const windows = new Map<string, { startedAt: number; count: number }>();

  const floods = (sender: string): boolean => {
    const now = clock.elapsed();
    const window = windows.get(sender);
    if (window === undefined || now - window.startedAt >= 60_000) {
      if (windows.size >= rememberedSenders) windows.clear();
      windows.set(sender, { startedAt: now, count: 1 });
      return false;
    }
    window.count++;
    return window.count > floodPerMinute;
  };

  return {
    /** The rule that a message breaks; null when it breaks none. Counts it. */
    broken(text: string, system: string, identity: Identity): BrokenRule | null {
      if (text.length > maxChars) return 'size';
      if (!atLeast(identity.trust_tier, 'TRUSTED') && floods(identity.principal_id ?? '')) return 'flood';
      return !deny.isEmpty && (deny.matches(text) || deny.matches(system)) ? 'deny' : null;
    },

    isDenying: !deny.isEmpty,
    denies: (text: string): boolean => deny.matches(text),
  };
}

export type ModerationRules = ReturnType<typeof createModerationRules>;
