import type { Readable } from 'node:stream';
import type { SpeechFormat } from '@svc/contract/speech.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { AudioType } from './audio-type.ts';

/** The text to speak. Names are checked already; null leaves the choice to the provider. */
export type Utterance = { text: string; model: string; voice: string | null; format: SpeechFormat | null };
/** `body` ends with an error when the rest of the audio will not arrive. */
export type SpokenAudio = { mime: string; body: Readable };

type Provider = {
  /** The name in usage records and answers. */
  readonly name: string;
  readonly model: string;
  /** Whether each call is billed. */
  readonly isMetered: boolean;
};

/** A provider of speech. `speak` resolves when the audio begins. @throws ServiceError with a `reason`. */
export type TtsProvider = Provider & { speak(utterance: Utterance, signal: AbortSignal): Promise<SpokenAudio> };

/** `language` is an ISO code or null. */
export type Clip = { bytes: Buffer; type: AudioType; mime: string; model: string; language: string | null };
export type Heard = { text: string; language: string | null };

/** A provider of transcriptions. @throws ServiceError with a `reason`. */
export type SttProvider = Provider & { transcribe(clip: Clip, signal: AbortSignal): Promise<Heard> };

/** A server that is called over HTTP. */
export type SpeechEndpoint = {
  /** The name in messages: `OpenAI`, `ElevenLabs`. */
  label: string;
  /** The address, without a trailing slash. */
  base: string;
  key: Secret | null;
  /** The prefix of the settings that configure it. */
  settings: 'SVC_TTS' | 'SVC_STT';
  /** The longest silence before a timeout. */
  timeoutMs: number;
  /** Masks the server's error messages. */
  mask: (text: string) => string;
};
