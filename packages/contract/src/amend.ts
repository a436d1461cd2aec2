import { channelPattern, conversationKeySchema, senderSchema, type Sender } from './envelope.ts';

/** Body of `POST /v2/amend`: a message was edited or deleted by the person who sent it. */
export const amendmentSchema = {
  type: 'object',
  required: ['conversation_key', 'message_id', 'version', 'text', 'as'],
  properties: {
    conversation_key: conversationKeySchema,
    message_id: { type: 'string', minLength: 1, maxLength: 512, pattern: conversationKeySchema.pattern },
    version: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    text: { type: ['string', 'null'], maxLength: 1_000_000 },
    as: {
      type: 'object',
      required: ['channel', 'sender'],
      properties: {
        channel: { type: 'string', pattern: channelPattern },
        sender: senderSchema,
      },
    },
  },
} as const;

export type Amendment = {
  conversation_key: string;
  /** Of the message that was changed. */
  message_id: string;
  /** Grows with each change of a message, such as the time of the edit. What is not newer than what the core has changes nothing. */
  version: number;
  /** What it says now; null when it was deleted. */
  text: string | null;
  /** Who changed it: its sender by any of their identities, or an owner. */
  as: { channel: string; sender: Sender };
};

/**
 * What became of it. The message waited: it is `replaced`, or `dropped` and its caller gets `aborted`. It was being answered: a deleted one's turn is
 * `aborted`, an edit is a turn of its own that comes next (`steered`). It was answered: the next turn is told (`noted`). `unchanged`: this version or
 * a later one was there. `unknown`: the core has no such message. `denied`: not theirs to change.
 */
export const amendOutcomes = ['replaced', 'dropped', 'aborted', 'steered', 'noted', 'unchanged', 'unknown', 'denied'] as const;
export type AmendOutcome = (typeof amendOutcomes)[number];

export type AmendResult = { outcome: AmendOutcome };
