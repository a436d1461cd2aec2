import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { denied, toIdentity } from './effective-trust.ts';
import type { KnownSender, TrustStore } from './trust-store.ts';

const cacheSize = 10_000;

type Place = Pick<Envelope, 'channel' | 'public' | 'conversation_key'>;

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

  const contextOf = ({ channel, conversation_key, public: isPublic }: Place) => ({
    surface: channel,
    conversationKey: conversation_key,
    public: isPublic === true,
    now: clock.now(),
  });

  return {
    async resolve(envelope: Place & Pick<Envelope, 'sender'>): Promise<Identity> {
      const sender = fault === null ? await lookUp(envelope.channel, envelope.sender.raw_id) : null;
      if (fault !== null) return denied(null, 'gate_closed', fault);
      return toIdentity(sender, contextOf(envelope));
    },

    /** The trust of a principal in the place of an envelope, whoever brought it. */
    async resolvePrincipal(id: string | null, envelope: Place): Promise<Identity> {
      if (fault !== null) return denied(null, 'gate_closed', fault);
      return toIdentity(id === null ? null : await store.findPrincipal(id), contextOf(envelope));
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
