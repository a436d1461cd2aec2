import type { ErrorCode } from './error-body.ts';
import type { Static } from './schema.ts';
import type { UploadedFile } from './upload.ts';

/** Encodings of speech that may be requested; the provider decides which are available. */
export const speechFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
export type SpeechFormat = (typeof speechFormats)[number];

const name = { type: 'string', minLength: 1, maxLength: 128 } as const;

/** Body of `POST /v2/tts`. A setting limits the length of the text (`SVC_TTS_MAX_CHARACTERS`). */
export const speechSchema = {
  type: 'object',
  required: ['text'],
  properties: {
    text: { type: 'string', title: 'Text' },
    voice: { ...name, title: 'Voice', description: 'As the provider names it.' },
    model: { ...name, title: 'Model', description: 'As the provider names it.' },
    format: { type: 'string', title: 'Format', description: 'Not every provider supports all of them.', enum: speechFormats },
  },
} as const;
export type SpeechBody = Static<typeof speechSchema>;

/** A provider of speech. `reason`: what is missing, or null. `is_paid`: each call costs money. */
export type SpeechProviderState = {
  provider: 'espeak' | 'openai' | 'elevenlabs';
  chosen: boolean;
  ready: boolean;
  model: string | null;
  is_paid: boolean;
  reason: string | null;
};
/** Answer of `GET /v2/speech`. */
export type SpeechReport = {
  tts: SpeechProviderState[];
  stt: SpeechProviderState[];
  max_characters: number;
  max_clip_bytes: number;
};

/** Answer of `POST /v2/transcribe`. */
export type Transcription = {
  ok: true;
  text: string;
  /** As the provider reported it, or as requested; null if unknown. */
  language: string | null;
  /** Length of the clip, estimated from its size. */
  seconds: number;
  provider: string;
  model: string;
};

/** Answer of `POST /v2/recordings`. The file is kept even if its transcription fails. */
export type RecordingResult = {
  ok: true;
  file: UploadedFile;
  /** Present if it was requested. */
  transcription?: Transcription | { ok: false; error: ErrorCode; message: string };
};

/** The usage and cost of a call of a speech provider, USD. An unknown cost is null. */
export type SpeechUse = {
  feature: 'tts' | 'stt';
  provider: string;
  model: string;
  units: 'characters' | 'seconds';
  quantity: number;
  cost_usd: number | null;
  billed: boolean;
  conversation_key: string | null;
};
