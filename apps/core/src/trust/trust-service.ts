import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { denied, toIdentity } from './effective-trust.ts';
import type { KnownSender, TrustStore } from './trust-store.ts';

const cacheSize = 10_000;

/**
 * Resolves senders to identities, everywhere the same way. What the store knows of a sender is cached until trust
 * changes; expiry and scope are judged anew each time. While `fault` is set everybody is denied: a trust store that
 * cannot be relied on never lets anyone in.
 */
export function createTrustService(store: TrustStore, clock: Clock) {
  let cache = new Map<string, KnownSender | null>();
  let fault: string | null = null;

  const lookUp = async (surface: string, value: string): Promise<KnownSender | null> => {
    const key = `${surface}\0${value}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const current = cache; // a change of trust meanwhile begins a new one, and this answer is not remembered
    const sender = await store.findSender(surface, value);
    if (current.size >= cacheSize) current.clear();
    current.set(key, sender);
    return sender;
  };

  return {
    async resolve(envelope: Pick<Envelope, 'channel' | 'sender' | 'public' | 'conversation_key'>): Promise<Identity> {
      const sender = fault === null ? await lookUp(envelope.channel, envelope.sender.raw_id) : null;
      if (fault !== null) return denied(null, fault);
      return toIdentity(sender, {
        surface: envelope.channel,
        conversationKey: envelope.conversation_key,
        public: envelope.public === true,
        now: clock.now(),
      });
    },

    /** Forgets what is cached. Called after every change of trust, so that waiting turns see it. */
    changed(): void {
      cache = new Map();
    },

    closeGate(reason: string): void {
      fault = reason;
      cache = new Map();
    },

    fault: () => fault,
  };
}

export type TrustService = ReturnType<typeof createTrustService>;
