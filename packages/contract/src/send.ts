import type { Outbound } from './connector-meta.ts';
import { maxMessageId, maxTarget, noControl } from './envelope.ts';

/** Fields that name the destination of a message; `instance_id` or `channel` is required. */
const place = {
  /** A type id or the name of an instance. It must match exactly one instance that can send. */
  channel: { type: 'string', minLength: 1, maxLength: 100 },
  instance_id: { type: 'string', minLength: 1, maxLength: 100 },
  /** A room, chat or device, as the channel defines it. Control characters are refused as an attack. */
  target: { type: 'string', maxLength: maxTarget, pattern: noControl },
} as const;

/** The turn to which a message is the reply. */
const about = {
  type: 'object',
  required: ['turn_id'],
  additionalProperties: false,
  properties: {
    turn_id: { type: 'string', minLength: 1, maxLength: 200, pattern: noControl },
    message_id: { type: 'string', minLength: 1, maxLength: maxMessageId, pattern: noControl },
  },
} as const;

/**
 * The turn to which a message is the reply: a channel that already shows part of that reply completes it instead of showing it
 * twice. `message_id`: the channel's own id of the message that the turn answers, if it had one.
 */
export type About = { turn_id: string; message_id?: string };

/** The `reason` of a permanent refusal (409): this type of connector only answers. */
export const onlyAnswers = 'only_answers';

/** Body of `POST /send` (spec: Manager). */
export const sendSchema = {
  type: 'object',
  additionalProperties: false,
  anyOf: [{ required: ['instance_id'] }, { required: ['channel'] }],
  properties: {
    ...place,
    /** One of the type's `outbound.kinds`; by default `text`, or the kind that fits the file. */
    kind: { type: 'string', minLength: 1, maxLength: 64 },
    text: { type: 'string', maxLength: 1_000_000 },
    /** A file of the upload area. */
    path: { type: 'string', minLength: 1, maxLength: 4096 },
    caption: { type: 'string', maxLength: 100_000 },
    about,
  },
} as const;

export type SendRequest = {
  channel?: string;
  instance_id?: string;
  target?: string;
  kind?: string;
  text?: string;
  path?: string;
  caption?: string;
  about?: About;
};

/** Body of `POST /announce`. */
export const announceSchema = {
  type: 'object',
  required: ['text'],
  additionalProperties: false,
  anyOf: [{ required: ['instance_id'] }, { required: ['channel'] }],
  properties: { ...place, text: { type: 'string', minLength: 1, maxLength: 100_000, pattern: '\\S' } },
} as const;

export type AnnounceRequest = { channel?: string; instance_id?: string; target?: string; text: string };

/** Answer of `POST /send` when the channel has accepted the message. Otherwise it is an error body with `delivered: false`. */
export type SendAnswer = { ok: true; instance_id: string; delivered: true; id: string };

/** One row of `GET /send/targets`. */
export type SendTarget = { instance_id: string; channel: string; name: string; enabled: boolean; outbound: Outbound | false };

/** What the manager posts to a connector's `/out`. */
export type OutboundMessage = {
  /** The same in every attempt: a message with an id that was already shown is not shown again. */
  id: string;
  /** Empty where the type requires none. */
  target: string;
  kind: string;
  text?: string;
  /** A file of the upload area, links resolved. */
  path?: string;
  caption?: string;
  about?: About;
};

/** One row of a connector's `/channels`. */
export type ChannelInfo = {
  id: string;
  name: string;
  /** Whether messages of this channel are relayed to the core. */
  enabled: boolean;
  [detail: string]: unknown;
};

/** Body of `POST /instances/:id/channels`. */
export const toggleChannelSchema = {
  type: 'object',
  required: ['channel_id', 'enabled'],
  additionalProperties: false,
  properties: { channel_id: { type: 'string', minLength: 1, maxLength: 1024 }, enabled: { type: 'boolean' } },
} as const;

export type ToggleChannel = { channel_id: string; enabled: boolean };

/** A message that waits until its instance is back after a restart. Times are epoch ms. */
export type HeldAnnouncement = {
  id: string;
  instance_id: string;
  target: string;
  text: string;
  /** `failed`: the channel refused it, or it has expired. */
  state: 'waiting' | 'failed';
  attempts: number;
  error: string | null;
  created_at: number;
  expires_at: number;
};
