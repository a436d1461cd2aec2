import { atLeast, type Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createFixedWindow } from '@svc/service-kit/fixed-window.ts';
import { createPace, inTurns } from '@svc/service-kit/redaction/pace.ts';
import type { DenyRules } from './deny-rules.ts';

export type RuleLimits = { maxChars: number; floodPerMinute: number };
export type BrokenRule = 'size' | 'flood';

export const defaultLimits: RuleLimits = { maxChars: 100_000, floodPerMinute: 30 };

/** The rules that need no provider: length and flood (for senders below TRUSTED), then the operator's deny rules. */
export type ModerationRules = {
  /** The rule that a message breaks; null when it breaks none. Counts the message. */
  broken(text: string, identity: Identity): BrokenRule | null;
  /** False when there are no deny rules. */
  readonly isDenying: boolean;
  /** For each text, whether the operator denies it. Other work runs between the steps of long texts. */
  denied(texts: readonly string[]): Promise<boolean[]>;
};

export function createModerationRules({ maxChars, floodPerMinute }: RuleLimits, deny: DenyRules, clock: Clock): ModerationRules {
  const messages = createFixedWindow(clock, { max: floodPerMinute, windowMs: 60_000 });
  const floods = (sender: string): boolean => messages.count(sender) > 0;

  return {
    broken(text: string, identity: Identity): BrokenRule | null {
      if (text.length > maxChars) return 'size';
      if (!atLeast(identity.trust_tier, 'TRUSTED') && floods(identity.principal_id ?? '')) return 'flood';
      return null;
    },

    isDenying: !deny.isEmpty,
    async denied(texts: readonly string[]): Promise<boolean[]> {
      const pace = createPace();
      const denied: boolean[] = [];
      for (const text of texts) {
        denied.push(await inTurns(deny.matches(text)));
        if (pace.isDue()) await pace.pause();
      }
      return denied;
    },
  };
}
