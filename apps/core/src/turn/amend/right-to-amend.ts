import type { Envelope } from '@svc/contract/envelope.ts';
import type { Amendment } from '@svc/contract/amend.ts';
import { resolveSpeaker } from '@svc/service-kit/resolve-speaker.ts';
import type { TrustService } from '../../trust/trust-service.ts';

type MessageSender = Pick<Envelope, 'channel' | 'sender' | 'public'>;

/** Whether a message of this sender may be changed. */
export type RightToAmend = (message: MessageSender) => Promise<boolean>;

/** People may change their own messages, from any of their identities; owners may change all except those on public surfaces, where nobody is more than TRUSTED. */
export const createRightToAmend =
  (trust: Pick<TrustService, 'resolve'>, { as, conversation_key }: Pick<Amendment, 'as' | 'conversation_key'>): RightToAmend =>
  async (message) => {
    const place = { conversation_key, public: message.public === true };
    const { denied, trust_tier, principal_id } = await resolveSpeaker(trust, as, place);
    if (denied) return false;
    if (trust_tier === 'SACRED') return true;
    return principal_id !== null && (await trust.resolve({ ...message, conversation_key })).principal_id === principal_id;
  };
