import { deviceToolSchema, maxDeviceTools, type DeviceTool } from './device-tools.ts';
import type { Static } from './schema.ts';

/** Longest id that a channel gives to a message, in characters. */
export const maxMessageId = 512;

/** Longest name of a room, chat or device that something can be sent to, in characters. */
export const maxTarget = 1024;

/** Keys of conversations, messages and chats contain no control characters: displayed or cut, they could be mistaken for others. */
export const noControl = '^[^\\u0000-\\u001f\\u007f]*$';

/** The name of a conversation. */
export const conversationKeySchema = { type: 'string', minLength: 1, maxLength: 512, pattern: noControl } as const;

/** A person of a channel. */
export const senderSchema = {
  type: 'object',
  required: ['raw_id'],
  properties: {
    /** The channel's id of the sender. An id that no identifier can have counts as a stranger's. */
    raw_id: { type: 'string', minLength: 1, maxLength: 256 },
    raw_username: { type: 'string', maxLength: 256 },
  },
} as const;

/** The limits of a message's channel context: characters of JSON, and levels. */
export const maxContext = { chars: 64 * 1024, depth: 8 } as const;

/** The limits of a route's target if it is text; otherwise it is a number, or no target. */
const target = { if: { not: { type: 'string' } }, else: { type: 'string', maxLength: maxTarget, pattern: noControl } } as const;

/** The fields that name a place on a channel, by precedence. */
export const targetNames = ['channelId', 'chatId', 'target'] as const;

/** The target for messages to the channel: the first of `targetNames` that is a number or a non-blank text. */
export function targetIn(context: Record<string, unknown> = {}): string | null {
  for (const name of targetNames) {
    const value = context[name];
    const target = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    if (target.trim() !== '') return target;
  }
  return null;
}

/** What a channel can show besides text (`Action`). */
export const channelActions = ['file', 'react'] as const;
export type ChannelAction = (typeof channelActions)[number];

/** What a channel can render (spec: connector type descriptor, `capabilities`). */
export const capabilitiesSchema = {
  type: 'object',
  properties: {
    max_message_chars: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
    supports_markdown: { type: 'boolean' },
    supports_code_blocks: { type: 'boolean' },
    supports_attachments_out: { type: 'boolean' },
    actions: { type: 'array', maxItems: 8, items: { enum: channelActions } },
  },
} as const;
export type Capabilities = Static<typeof capabilitiesSchema>;

/** A file that came with a message, by reference into the upload area. Its bytes never travel in an envelope. */
export const attachmentSchema = {
  type: 'object',
  required: ['path'],
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 4096 },
    name: { type: 'string', maxLength: 255 },
    mime: { type: 'string', maxLength: 127 },
    bytes: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
} as const;
export type Attachment = Static<typeof attachmentSchema>;

const priorMessageSchema = {
  type: 'object',
  required: ['role', 'text'],
  properties: {
    role: { enum: ['user', 'assistant', 'tool'] },
    text: { type: 'string', maxLength: 1_000_000 },
  },
} as const;

/** A list that is too long is refused as a whole: its items are only checked if its length is within bounds. */
const boundedList = <const Items>(maxItems: number, items: Items) =>
  ({ type: 'array', maxItems, if: { minItems: maxItems + 1 }, else: { items } }) as const;

/** The name of a channel, with which the keys of its conversations begin. */
export const channelPattern = '^[a-z][a-z0-9_-]{0,31}$';

/** Channels of the service itself, whose senders are identified by the machine or a login. No connector can have such a name. */
export const ownChannels: readonly string[] = ['shell', 'query', 'web'];

/** Normalized input from a channel (spec: Envelope). Unknown fields are ignored: a caller cannot name its own trust. */
export const envelopeSchema = {
  type: 'object',
  required: ['channel', 'conversation_key', 'sender', 'content'],
  properties: {
    channel: { type: 'string', pattern: channelPattern },
    conversation_key: conversationKeySchema,
    message_id: { type: 'string', minLength: 1, maxLength: maxMessageId, pattern: noControl },
    sender: { ...senderSchema, properties: { ...senderSchema.properties, is_bot: { type: 'boolean' } } },
    content: {
      type: 'object',
      required: ['text'],
      properties: {
        text: { type: 'string', maxLength: 1_000_000 },
        /** The sender's own part of `text`, if the channel has added to it, such as a quoted message. Only this part answers a question. */
        said: { type: 'string', maxLength: 1000 },
        attachments: boundedList(32, attachmentSchema),
        /** Earlier messages that the channel knows; only used before the first turn of the session. */
        transcript: boundedList(10_000, priorMessageSchema),
        /** Extra system prompt for this turn alone. */
        system: { type: 'string', maxLength: 200_000 },
      },
    },
    delivery: { enum: ['sync', 'async'] },
    capabilities: capabilitiesSchema,
    public: { type: 'boolean' },
    keeps: { type: 'boolean' },
    mentioned: { type: 'boolean' },
    intake: {
      type: 'object',
      properties: {
        debounce_ms: { type: 'integer', minimum: 0, maximum: 60_000 },
        pairing: { type: 'boolean' },
        gather: { enum: ['sender', 'conversation'] },
        quiet_strangers: { type: 'boolean' },
      },
    },
    /** The turn's working folder, instead of the usual one. */
    workspace: {
      type: 'object',
      required: ['checkout'],
      properties: { checkout: { type: 'string', minLength: 1, maxLength: 128 } },
    },
    /** Bounded as a whole too: `maxDeviceToolJson`. */
    device_tools: boundedList(maxDeviceTools, deviceToolSchema),
    /** Bounded as a whole too: `maxContext`. */
    channel_context: {
      type: 'object',
      maxProperties: 256,
      properties: { channelId: target, chatId: target, target },
    },
  },
} as const;

export type Delivery = 'sync' | 'async';
/** How messages of an instance are accepted; set by its configuration, never by a sender. */
export type Intake = {
  /** Messages that follow each other within this time are one turn, ms. */
  debounce_ms?: number;
  /** True: an unknown sender gets a code that the operator can approve. */
  pairing?: boolean;
  /** Whose messages within `debounce_ms` are one turn: a sender's (default), or all of a room. */
  gather?: 'sender' | 'conversation';
  /** Unknown senders in public are not listed for the operator. */
  quiet_strangers?: boolean;
};
export type PriorMessage = Static<typeof priorMessageSchema>;
/** `is_bot`: the platform marks the sender as a program. */
export type Sender = { raw_id: string; raw_username?: string; is_bot?: boolean };

export type Envelope = {
  channel: string;
  /** Stable primary key of the session, deterministic per user or room. */
  conversation_key: string;
  message_id?: string;
  sender: Sender;
  content: { text: string; said?: string; attachments?: Attachment[]; transcript?: PriorMessage[]; system?: string };
  delivery?: Delivery;
  capabilities?: Capabilities;
  /** True on broadcast surfaces: stricter redaction, trust capped. */
  public?: boolean;
  /** The channel shows the conversation's history, which includes replies that were not fetched: they are neither pushed nor listed as failed. */
  keeps?: boolean;
  /** False for a room's message that does not name the assistant: with the field `mention_only` it is only observed. */
  mentioned?: boolean;
  intake?: Intake;
  /** A checkout of this conversation's, by its id (`POST /v2/checkouts`, `core.checkout`). */
  workspace?: { checkout: string };
  /** The tools of the sender's device, by the instance's `call`; offered to the engine in this turn. */
  device_tools?: DeviceTool[];
  /** `channelId`, `chatId` or `target` name the session's outbound route. */
  channel_context?: Record<string, unknown>;
};
