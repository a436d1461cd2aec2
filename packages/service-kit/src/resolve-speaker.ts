import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';

/** The person whom the request names as the speaker (`as`). */
type Named = Pick<Envelope, 'channel'> & { sender: Pick<Envelope['sender'], 'raw_id'> };
/** `public`: whether the cap of public surfaces applies. `instance_id`: from the pass; otherwise it follows from the key. */
type Place = { conversation_key: string; public: boolean; instance_id?: string };

/**
 * Resolves the speaker of a request that is made for a person (an answer, an amendment, an operation on a conversation), over
 * the link or HTTP. The caller says which person of its channel that is: a connector, which its pass limits to its own channel
 * and instance, or the operator. The caller does not decide what that person may do: the rules of the instance (`allow`,
 * `public`) always apply, and so does the cap of public surfaces where the core knows that what is answered or changed is
 * public. A caller may add that cap but never remove it. Conversations are shown to their person alone, so operations on them
 * are capped only by the rule `public`.
 */
export const resolveSpeaker = (
  trust: { resolve(message: Named & Place): Promise<Identity> },
  { channel, sender }: Named,
  place: Place,
): Promise<Identity> => trust.resolve({ channel, sender, ...place });
