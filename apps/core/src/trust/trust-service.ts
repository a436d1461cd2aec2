import type { Envelope } from '@svc/contract/envelope.ts';
import type { InstanceRules } from '@svc/contract/instance-rules.ts';
import type { ExplainedIdentity, Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { ShortLivedMap } from '@svc/service-kit/short-lived-map.ts';
import { denied, judgeGrants, toIdentity } from './effective-trust.ts';
import { toIdentifierValue } from './identifier-value.ts';
import type { KnownSender, TrustStore } from './trust-store.ts';

const cacheSize = 10_000;
/** More identifiers than this are not kept in memory; each stranger then costs a query. */
const maxKnown = 100_000;

/** `instance_id`: set when the connector is known by its pass; otherwise it is taken from the key. */
type Place = Pick<Envelope, 'channel' | 'public' | 'conversation_key'> & { instance_id?: string };
type Message = Place & Pick<Envelope, 'sender'>;
/** The operator's rules for the instance that a message comes through. */
export type RulesOf = (place: Place) => Pick<InstanceRules, 'allow' | 'public'>;
type Store = Pick<TrustStore, 'findSender' | 'findPrincipal' | 'identifiers'>;

/** Answers who a sender is and what that allows. */
export interface TrustService {
  resolve(envelope: Message): Promise<Identity>;
  /** The same, with every grant and why it applies here or not. Reads the store, not the cache. */
  explain(envelope: Message): Promise<ExplainedIdentity>;
  /** The trust of a principal in the place of an envelope. */
  resolvePrincipal(id: string | null, envelope: Place): Promise<Identity>;
  /** The key of a principal, whatever their rights; null when there is none. */
  keyOf(id: string | null): Promise<string | null>;
  /**
   * The denial of a sender who belongs to no principal, decided in memory; null for others, and while that is not known. So a
   * flood of strangers takes no place in the queue and costs no query.
   */
  strangerOf(message: Message): Identity | null;
  /** Forgets what is cached. Called after every change of trust, so that waiting turns see it. */
  changed(): void;
  /** Calls the listener after every change of trust, until the returned function is called. */
  onChange(listener: () => void): () => void;
  closeGate(reason: string): void;
  fault(): string | null;
}

/**
 * Resolves senders to identities, the same way everywhere. The stored data of a sender is cached until trust changes;
 * expiry and scope are checked each time. While `fault` is set, everybody is denied: a trust store that cannot be relied
 * on must not let anyone in.
 */
export function createTrustService(store: Store, clock: Clock, rulesOf: RulesOf = () => ({})): TrustService {
  let cache = new Map<string, KnownSender | null>();
  /** Every identifier in the store; null while that is not known for sure. */
  let known: ReadonlySet<string> | null = null;
  let fault: string | null = null;

  // Text that is not well-formed Unicode is stored as different text, so such a name could match another sender's.
  const find = async (surface: string, value: string): Promise<KnownSender | null> =>
    value.isWellFormed() ? store.findSender(surface, value) : null;

  const lookUp = async (surface: string, value: string): Promise<KnownSender | null> => {
    const key = keyOf(surface, value);
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const current = cache; // a change of trust meanwhile starts a new cache, and this answer is not kept
    const sender = await find(surface, value);
    if (current.size >= cacheSize) current.clear();
    current.set(key, sender);
    return sender;
  };

  const listeners = new ShortLivedMap<number, () => void>();
  let listenerIds = 0;

  const forget = () => {
    cache = new Map();
    known = null;
  };

  const learnIdentifiers = async (): Promise<void> => {
    const current = cache;
    const all = await store.identifiers().catch(() => null); // without the list, every sender is looked up
    if (all === null || all.length > maxKnown || current !== cache) return;
    known = new Set(all.map(({ surface, value }) => keyOf(surface, value)));
  };

  const contextOf = (place: Place) => {
    const { channel, conversation_key, public: isPublic } = place;
    const rules = rulesOf(place);
    return {
      surface: channel,
      conversationKey: conversation_key,
      public: isPublic === true || rules.public === true,
      now: clock.now(),
      allow: rules.allow,
    };
  };

  return {
    async resolve(envelope: Message): Promise<Identity> {
      const sender = fault === null ? await lookUp(envelope.channel, envelope.sender.raw_id) : null;
      if (fault !== null) return denied(null, 'gate_closed', fault);
      return toIdentity(sender, contextOf(envelope));
    },

    async explain(envelope: Message): Promise<ExplainedIdentity> {
      const { channel, sender } = envelope;
      const found = await find(channel, sender.raw_id);
      const context = contextOf(envelope);
      const identity = fault === null ? toIdentity(found, context) : denied(null, 'gate_closed', fault);
      const uncapped = toIdentity(found, { ...context, public: false });
      return {
        ...identity,
        explanation: {
          identifier: { surface: channel, value: toIdentifierValue(channel, sender.raw_id) },
          principal: found === null ? null : principalOf(found),
          grants: found === null ? [] : judgeGrants(found, context),
          capped_from: identity.denied || uncapped.trust_tier === identity.trust_tier ? null : uncapped.trust_tier,
        },
      };
    },

    async resolvePrincipal(id: string | null, envelope: Place): Promise<Identity> {
      if (fault !== null) return denied(null, 'gate_closed', fault);
      return toIdentity(id === null ? null : await store.findPrincipal(id), contextOf(envelope));
    },

    keyOf: async (id) => (id === null ? null : ((await store.findPrincipal(id))?.key ?? null)),

    strangerOf({ channel, sender }: Message): Identity | null {
      if (fault !== null) return denied(null, 'gate_closed', fault);
      return known === null || known.has(keyOf(channel, sender.raw_id)) ? null : stranger;
    },

    changed(): void {
      forget();
      void learnIdentifiers();
      for (const listener of listeners.values()) listener();
    },

    onChange(listener: () => void): () => void {
      const id = ++listenerIds;
      listeners.set(id, listener);
      return () => void listeners.delete(id);
    },

    closeGate(reason: string): void {
      fault = reason;
      forget();
    },

    fault: () => fault,
  };
}

const stranger = toIdentity(null, { surface: '', conversationKey: '', public: false, now: 0 });

const keyOf = (surface: string, value: string) => compositeKey(surface, toIdentifierValue(surface, value));

const principalOf = ({ principal_id, key, display_name, active }: KnownSender) => ({
  id: principal_id,
  key,
  display_name,
  status: active ? ('active' as const) : ('disabled' as const),
});
