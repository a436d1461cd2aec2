import type { Secret } from '@svc/service-kit/secret.ts';

/** A server that is asked over HTTP. */
export type SpeechEndpoint = {
  /** `OpenAI`, `ElevenLabs`: for the words. */
  label: string;
  /** Address without a slash at its end. */
  base: string;
  key: Secret | null;
  /** Beginning of the settings that describe it. */
  settings: 'SVC_TTS' | 'SVC_STT';
  /** It may be silent for this long. */
  timeoutMs: number;
  /** Masks what it says. */
  mask: (text: string) => string;
};
