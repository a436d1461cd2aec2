import { userKey, type Envelope, type StartContext } from '@svc/connector-kit';
import { meta } from './meta.ts';
import type { Message } from './parse-message.ts';

/** The message as the core takes it. The same user is the same conversation. */
export const toEnvelope = (
  { instanceId }: Pick<StartContext, 'instanceId'>,
  { id, user, name, text, attachments }: Message,
): Envelope => ({
  channel: meta.type,
  conversation_key: userKey(meta.type, instanceId, user),
  message_id: id,
  sender: { raw_id: user, ...(name !== undefined && { raw_username: name }) },
  content: { text, ...(attachments !== undefined && { attachments }) },
  capabilities: meta.capabilities,
  // Where a message that nobody has just asked for goes: the target of `send`.
  channel_context: { target: user },
});
