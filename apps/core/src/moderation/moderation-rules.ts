import { atLeast, type Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

export type Verdict = { allowed: true } | { allowed: false; rule: 'size' | 'flood' | 'deny'; reply: string };

export type ModerationRules = { maxChars: number; floodPerMinute: number; deny: readonly string[] };

export const defaultRules: ModerationRules = { maxChars: 100_000, floodPerMinute: 30, deny: [] };

const allowed: Verdict = { allowed: true };
const rememberedSenders = 10_000;

/**
 * Moderation by rules: length, flood (senders below TRUSTED), and texts the operator denies, compared without case.
 * Texts and not patterns, so that no rule can be slow.
 */
export function createModeration(rules: ModerationRules, clock: Clock) {
  const deny = rules.deny.map((text) => text.toLowerCase());
  const windows = new Map<string, { startedAt: number; count: number }>();

  const floods = (sender: string): boolean => {
    const now = clock.now();
    const window = windows.get(sender);
    if (window === undefined || now - window.startedAt >= 60_000) {
      if (windows.size >= rememberedSenders) windows.clear();
      windows.set(sender, { startedAt: now, count: 1 });
      return false;
    }
    window.count++;
    return window.count > rules.floodPerMinute;
  };

  return {
    check(text: string, identity: Identity): Verdict {
      if (identity.bypass_moderation) return allowed;
      if (text.length > rules.maxChars) return blocked('size', 'That message is too long for me. Please send less at once.');
      if (!atLeast(identity.trust_tier, 'TRUSTED') && floods(identity.principal_id ?? '')) {
        return blocked('flood', 'That is a lot of messages at once. Please wait a minute.');
      }
      const lower = deny.length === 0 ? '' : text.toLowerCase();
      return deny.some((denied) => lower.includes(denied)) ? blocked('deny', 'I cannot help with that message.') : allowed;
    },
  };
}

export type Moderation = ReturnType<typeof createModeration>;

const blocked = (rule: 'size' | 'flood' | 'deny', reply: string): Verdict => ({ allowed: false, rule, reply });
