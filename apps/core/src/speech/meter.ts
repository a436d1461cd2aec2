import type { SpeechUse } from '@svc/contract/speech.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Events } from '../events.ts';
import type { Pricing } from '../pricing/pricing.ts';
import type { Spend } from '../spend/spend.ts';
import type { Speaker } from './speaker.ts';

type Deps = { pricing: Pricing; spend: Spend; events: Events };
type Call = Pick<SpeechUse, 'feature' | 'provider' | 'model' | 'quantity' | 'conversation_key'> & { isMetered: boolean };

/** Speech for the operator's own programs belongs to no person, so only the total limits apply. */
const nobody = { principal_id: null, principal_key: null, trust_tier: 'SACRED' } as const;

/** Counts the cost of speech, once for every call that a provider accepted. Speech of the operator's own servers is free. */
export type Meter = {
  /** @throws ServiceError `forbidden` when a hard limit is reached and the call would be billed. */
  check(provider: { isMetered: boolean }, speaker: Speaker | null): void;
  /** Counts one call that a provider accepted. */
  add(call: Call, speaker: Speaker | null): void;
};

export function createMeter({ pricing, spend, events }: Deps): Meter {
  const costOf = ({ feature, provider, model, quantity, isMetered }: Call): number | null => {
    if (!isMetered) return 0;
    const cost = feature === 'tts' ? pricing.speech(model, quantity) : pricing.transcription(model, quantity);
    if (cost === null) pricing.noteUnpriced(provider, model, feature);
    return cost;
  };

  return {
    check({ isMetered }, speaker): void {
      if (!isMetered) return;
      const verdict = spend.check(speaker?.identity ?? nobody, false, speaker?.from);
      if (!verdict.allowed) throw new ServiceError('forbidden', verdict.reply, { details: { reason: 'spending_limit' } });
    },

    add(call, speaker): void {
      const { feature, provider, model, quantity, conversation_key, isMetered: billed } = call;
      const cost_usd = costOf(call);
      const units = feature === 'tts' ? 'characters' : 'seconds';
      events.speechUsage({ feature, provider, model, units, quantity, cost_usd, billed, conversation_key }, speaker);
      spend.add(speaker?.identity ?? nobody, cost_usd, speaker?.from);
    },
  };
}
