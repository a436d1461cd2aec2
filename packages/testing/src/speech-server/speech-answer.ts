import { fakeAudio } from './fake-audio.ts';

export type SpeechAnswer =
  | { status: number; json: unknown; headers?: Record<string, string> }
  | { status: 200; mime: string; audio: Buffer }
  /** The body of a page, as a proxy sends one. */
  | { status: number; text: string };

export const spoken = (mime: string, format: string, text: string): SpeechAnswer => ({
  status: 200,
  mime,
  audio: fakeAudio(format, text),
});
