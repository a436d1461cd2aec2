import type { Readable } from 'node:stream';
import type { SpeechFormat } from '@svc/contract/speech.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { AudioType } from './audio-type.ts';

/** What to say. Names have been checked; null is the provider's own choice. */
export type Utterance = { text: string; model: string; voice: string | null; format: SpeechFormat | null };
/** `body` ends with an error when what is missing of it will not come. */
export type SpokenAudio = { mime: string; body: Readable };

type Provider = {
  /** As usage and answers name it. */
  readonly name: string;
  readonly model: string;
  /** Each call is paid for. */
  readonly isMetered: boolean;
};

/** One way to make speech. `speak` resolves when the audio begins. @throws ServiceError with a `reason`. */
export type TtsProvider = Provider & { speak(utterance: Utterance, signal: AbortSignal): Promise<SpokenAudio> };

/** `language` is an ISO code or null. */
export type Clip = { bytes: Buffer; type: AudioType; mime: string; model: string; language: string | null };
export type Heard = { text: string; language: string | null };

/** One way to read speech. @throws ServiceError with a `reason`. */
export type SttProvider = Provider & { transcribe(clip: Clip, signal: AbortSignal): Promise<Heard> };

/** A server that is asked over HTTP. */
export type SpeechEndpoint = {
  /** `OpenAI`, `ElevenLabs`: as messages name it. */
  label: string;
  /** Address without a slash at its end. */
  base: string;
  key: Secret | null;
  /** Beginning of the settings that describe it. */
  settings: 'SVC_TTS' | 'SVC_STT';
  /** How long it may be silent. */
  timeoutMs: number;
  /** Masks its messages. */
  mask: (text: string) => string;
};
