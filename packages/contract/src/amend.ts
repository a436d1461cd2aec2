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
  /** Grows with each change of a message, such as the time of the edit. A version that is not newer than the core's is ignored. */
  version: number;
  /** The new text; null when it was deleted. */
  text: string | null;
  /** Who changed it: its sender by any of their identities, or an owner. */
  as: { channel: string; sender: Sender };
};

/**
 * The outcome. A waiting message is `replaced`, or `dropped` and its caller gets `aborted`. While a message is being answered, its
 * deletion aborts the turn (`aborted`), and an edit becomes the next turn (`steered`). If it was answered already, the next turn
 * gets a note (`noted`). `unchanged`: the core had this version or a later one. `unknown`: the core has no such message.
 * `denied`: this person may not change it.
 */
export const amendOutcomes = ['replaced', 'dropped', 'aborted', 'steered', 'noted', 'unchanged', 'unknown', 'denied'] as const;
export type AmendOutcome = (typeof amendOutcomes)[number];

export type AmendResult = { outcome: AmendOutcome };
