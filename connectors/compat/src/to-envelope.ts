import { compatKey, compatOnceKey, compatSessionKey } from '@svc/connector-kit/conversation-key.ts';
import type { Caller } from '@svc/connector-kit/keys-file.ts';
import type { Envelope, PriorMessage } from '@svc/contract/envelope.ts';
import { meta } from './meta.ts';
import type { ChatRequest } from './parse-request.ts';

export type EnvelopeFacts = {
  request: ChatRequest;
  caller: Caller;
  instanceId: string;
  messageId: string;
  /** The session name, if the caller chose one. */
  sessionName: string | null;
  /** Without a name, the request is a conversation of its own, identified by `onceName` or its message. */
  isOnce: boolean;
  onceName?: string;
  /** True when a conversation already had a reply, so its transcript is known. */
  isSeen: (conversationKey: string) => boolean;
};

/** Converts a chat-completions request to an envelope: the latest user message and, in a new conversation, the messages before it. */
export function toEnvelope(facts: EnvelopeFacts): Envelope {
  const { request, caller, messageId, isSeen } = facts;
  const key = keyOf(facts);
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

function keyOf({ request, caller, instanceId, messageId, sessionName, isOnce, onceName = messageId }: EnvelopeFacts): string {
  if (sessionName !== null) return compatSessionKey(instanceId, caller.identity, sessionName);
  if (isOnce) return compatOnceKey(instanceId, caller.identity, onceName);
  return compatKey(instanceId, caller.identity, request.firstUserText);
}

function toContent({ messages, latest, system }: ChatRequest, isSeen: boolean): Envelope['content'] {
  const content: Envelope['content'] = { text: messages[latest]?.text ?? '' };
  if (system !== '') content.system = system;
  if (!isSeen && messages.length > 1) content.transcript = transcriptOf(messages, latest);
  return content;
}

const transcriptOf = (messages: ChatRequest['messages'], latest: number): PriorMessage[] =>
  messages.filter(({ text }, index) => index !== latest && text !== '').map(({ role, text }) => ({ role, text }));
