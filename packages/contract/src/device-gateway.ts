import type { ChatFrame } from './chat-frame.ts';
import { capabilitiesSchema } from './device-actions.ts';
import { maxMessageId } from './envelope.ts';
import type { Static } from './schema.ts';

/** The protocol between devices and their gateway under `/gw` (spec: mobile connector). Times are epoch ms. */

const conversationKey = { type: 'string', minLength: 1, maxLength: 512 } as const;
export const maxDeviceName = 80;

/** Body of `POST /gw/pair`: the code of the link or QR that `./svc device add` has shown. */
export const pairSchema = {
  type: 'object',
  required: ['code'],
  properties: {
    code: { type: 'string', minLength: 1, maxLength: 128 },
    /** The device's own name for its platform, for the list of devices. */
    platform: { type: 'string', maxLength: 200 },
  },
} as const;
export type PairRequest = Static<typeof pairSchema>;

/** Its answer. The token is given this once. */
export type Paired = { ok: true; token: string; device: { id: string; name: string }; assistant: string; instance_id: string };

/** Body of `POST /gw/turn`. The same `message_id` again is the same message. */
export const turnSchema = {
  type: 'object',
  required: ['text', 'message_id'],
  properties: {
    text: { type: 'string', maxLength: 1_000_000 },
    message_id: { type: 'string', minLength: 1, maxLength: maxMessageId },
    /** Another conversation than the device's own, if its person may use it. */
    conversation_key: conversationKey,
    /** Ends the turn in flight first; otherwise it waits for its end. */
    interrupt: { type: 'boolean' },
    /** Paths of uploads. */
    attachments: { type: 'array', maxItems: 32, items: { type: 'string', minLength: 1, maxLength: 4096 } },
  },
} as const;
export type TurnRequest = Static<typeof turnSchema>;

/** Its answer once the message is stored. `turn_id` is null if the message went to another conversation, whose turn has not begun yet. */
export type TurnAccepted = { ok: true; conversation_key: string; message_id: string; turn_id: string | null };

/** Body of `POST /gw/stop` and `POST /gw/forget`; the device's own conversation unless named. */
export const placeSchema = { type: 'object', properties: { conversation_key: conversationKey } } as const;
export type PlaceRequest = Static<typeof placeSchema>;

/** Body of `POST /gw/answer`: an option of the question, or free text. */
export const answerSchema = {
  type: 'object',
  required: ['ask_id'],
  properties: {
    ask_id: { type: 'string', minLength: 1, maxLength: 128 },
    option: { type: 'string', minLength: 1, maxLength: 64 },
    text: { type: 'string', minLength: 1, maxLength: 10_000 },
    conversation_key: conversationKey,
  },
} as const;
export type AnswerBody = Static<typeof answerSchema>;

/** Body of `PATCH /gw/device`: a device's description of itself. */
export const describeSchema = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 1, maxLength: maxDeviceName }, capabilities: capabilitiesSchema },
} as const;
export type DescribeRequest = Static<typeof describeSchema>;

const sha256 = { type: 'string', pattern: '^[0-9a-fA-F]{64}$' } as const;

/** Body of `POST /gw/uploads`. `size`: bytes; `sha256`: of the whole. */
export const beginUploadSchema = {
  type: 'object',
  required: ['filename', 'size'],
  properties: {
    filename: { type: 'string', minLength: 1, maxLength: 255 },
    mime: { type: 'string', maxLength: 255 },
    size: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    sha256,
  },
} as const;
export type BeginUploadRequest = Static<typeof beginUploadSchema>;

/** Body of `POST /gw/uploads/:id`, which completes the upload. */
export const finishUploadSchema = { type: 'object', properties: { sha256 } } as const;
export type FinishUploadRequest = Static<typeof finishUploadSchema>;

/** A device, as its person and the operator see it. */
export type DeviceInfo = {
  device_id: string;
  name: string;
  platform: string | null;
  created_at: number;
  last_seen_at: number | null;
};

/** Answer of `GET /gw/presence`: `stream` and `control` tell whether a connection of that kind is open. */
export type Presence = {
  ok: true;
  /** Whether any device is reachable. */
  reachable: boolean;
  devices: { device_id: string; name: string; stream: boolean; control: boolean; last_seen_at: number | null }[];
};

/** A frame of `GET /gw/stream`, by its `type` as the event's name. */
export type StreamFrame = { conversation_key: string } & (Exclude<ChatFrame, { type: 'ready' }> | StreamReady);
/** The first frame. `gap`: frames were missed, and the history contains them. */
export type StreamReady = {
  type: 'ready';
  device: { id: string; name: string };
  assistant: string;
  server_time: number;
  gap: boolean;
};

/** Answer of the instance's `call` that invites a device. */
export type Invitation = { device_id: string; identity: string; code: string; url: string; expires_at: number };
/** A device in the operator's list. `invited`: it has not been paired yet. */
export type ListedDevice = DeviceInfo & {
  identity: string;
  state: 'invited' | 'paired';
  online: boolean;
  /** Names of the capabilities that the owner allows. */
  allowed: string[];
  /** Names of the capabilities that it declares. */
  can: string[];
};

/** Body of `POST /gw/tts`. */
export const speakSchema = {
  type: 'object',
  required: ['text'],
  properties: {
    text: { type: 'string', minLength: 1, maxLength: 10_000 },
    voice: { type: 'string', minLength: 1, maxLength: 100 },
  },
} as const;
export type SpeakRequest = Static<typeof speakSchema>;

/** Body of `POST /gw/voice-config`: a person's settings for speech on one device. */
export const voiceConfigSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    language: { type: 'string', maxLength: 35 },
    voice: { type: 'string', maxLength: 100 },
    model: { type: 'string', maxLength: 100 },
    hands_free: { type: 'boolean' },
    read_aloud: { type: 'boolean' },
  },
} as const;
export type VoiceConfig = Static<typeof voiceConfigSchema>;
