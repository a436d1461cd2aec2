import { compatKey, compatSessionKey } from '@svc/connector-kit/conversation-key.ts';
import type { Caller } from '@svc/connector-kit/keys-file.ts';
import type { Envelope, PriorMessage } from '@svc/contract/envelope.ts';
import { meta } from './meta.ts';
import type { ChatRequest } from './parse-request.ts';

export type EnvelopeFacts = {
  request: ChatRequest;
  caller: Caller;
  instanceId: string;
  messageId: string;
  /** Name of the session when the caller chose one. */
  sessionName: string | null;
  /** True when a conversation has had a reply already: then its transcript is known. */
  isSeen: (conversationKey: string) => boolean;
};

/** A chat-completions request as an envelope: the latest user message, and what came before it for a new conversation. */
export function toEnvelope({ request, caller, instanceId, messageId, sessionName, isSeen }: EnvelopeFacts): Envelope {
  const key =
    sessionName === null
      ? compatKey(instanceId, caller.identity, request.firstUserText)
      : compatSessionKey(instanceId, caller.identity, sessionName);
  return {
    channel: meta.type,
    conversation_key: key,
    message_id: messageId,
    sender: { raw_id: caller.identity, raw_username: caller.username },
    content: toContent(request, isSeen(key)),
    delivery: 'sync',
    capabilities: meta.capabilities,
    public: false,
    channel_context: request.model === null ? {} : { requested_model: request.model.slice(0, 256) },
  };
}

function toContent({ messages, latest, system }: ChatRequest, isSeen: boolean): Envelope['content'] {
  const content: Envelope['content'] = { text: messages[latest]?.text ?? '' };
  if (system !== '') content.system = system;
  if (!isSeen && messages.length > 1) content.transcript = transcriptOf(messages, latest);
  return content;
}

const transcriptOf = (messages: PriorMessage[], latest: number) =>
  messages.filter(({ text }, index) => index !== latest && text !== '');
