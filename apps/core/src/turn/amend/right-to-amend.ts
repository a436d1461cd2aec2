import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { TrustService } from '../../trust/trust-service.ts';

type MessageSender = Pick<Envelope, 'channel' | 'sender'>;

/** Whether a message of this sender may be changed. */
export type RightToAmend = (sender: MessageSender) => Promise<boolean>;

/** People change their own messages, by whichever of their identities; owners change any. `key`: the conversation, where trust may be narrower. */
export const createRightToAmend =
  (trust: Pick<TrustService, 'resolve'>, { denied, trust_tier, principal_id }: Identity, key: string): RightToAmend =>
  async (sender) => {
    if (denied) return false;
    if (trust_tier === 'SACRED') return true;
    return principal_id !== null && (await trust.resolve({ ...sender, conversation_key: key })).principal_id === principal_id;
  };
