import type { ErrorCode } from './error-body.ts';
import type { Static } from './schema.ts';
import type { UploadedFile } from './upload.ts';

/** Encodings of speech that may be asked for; which of them there are depends on the provider. */
export const speechFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
export type SpeechFormat = (typeof speechFormats)[number];

const name = { type: 'string', minLength: 1, maxLength: 128 } as const;

/** Body of `POST /v2/tts`. How long the text may be is a setting (`SVC_TTS_MAX_CHARACTERS`). */
export const speechSchema = {
  type: 'object',
  required: ['text'],
  properties: {
    text: { type: 'string', title: 'Text' },
    voice: { ...name, title: 'Voice', description: 'A name of the provider.' },
    model: { ...name, title: 'Model', description: 'A name of the provider.' },
    format: { type: 'string', title: 'Format', description: 'Not every provider makes each.', enum: speechFormats },
  },
} as const;
export type SpeechBody = Static<typeof speechSchema>;

/** One who could speak or listen. `reason`: what is missing; null when nothing is. `is_paid`: by the call. */
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
  /** As the provider names it, or as it was asked for; null when nobody said. */
  language: string | null;
  /** Length of the clip, estimated from its size. */
  seconds: number;
  provider: string;
  model: string;
};

/** Answer of `POST /v2/recordings`. The file is kept whatever becomes of its transcription. */
export type RecordingResult = {
  ok: true;
  file: UploadedFile;
  /** When it was asked for. */
  transcription?: Transcription | { ok: false; error: ErrorCode; message: string };
};

/** What a call of a speech provider used and cost, USD. A cost that nobody knows is null. */
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
