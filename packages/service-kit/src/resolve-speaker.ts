import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';

/** Who is said to speak (`as`). */
type Named = Pick<Envelope, 'channel'> & { sender: Pick<Envelope['sender'], 'raw_id'> };
/** `public`: whether the cap of public surfaces holds. `instance_id`: of the pass; without one the key says it. */
type Place = { conversation_key: string; public: boolean; instance_id?: string };

/**
 * Who speaks in a request that is made for a person: an answer, an amendment, an operation on a conversation, over the link or HTTP. Which
 * person of its channel that is, is the word of who asks: the connector, held to its own channel and instance by its pass, or the operator.
 * What that person may do is not: the rules of the instance (`allow`, `public`) always hold, and the cap of public surfaces holds where the
 * core knows that what is answered or changed is public. The word of who asks may add that cap, never remove it. Conversations as such
 * are shown to their person alone, so operations on them are uncapped but for the rule `public`.
 */
export const resolveSpeaker = (
  trust: { resolve(message: Named & Place): Promise<Identity> },
  { channel, sender }: Named,
  place: Place,
): Promise<Identity> => trust.resolve({ channel, sender, ...place });
