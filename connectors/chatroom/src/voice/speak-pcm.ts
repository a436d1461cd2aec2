import type { Readable } from 'node:stream';
import { ServiceError, type SpeechApi } from '@svc/connector-kit';
import { convertPcm, type PcmFormat } from '@svc/connector-kit/audio/pcm.ts';
import { playedFormat } from './sound.ts';
import { readWav } from './read-wav.ts';

/** The format of raw samples, for providers that produce them. */
const rawFormat = { rate: 24_000, channels: 1 } as const satisfies PcmFormat;

/** Speech in the format that the platform plays. */
export type SpeakPcm = (text: string, sender: string, signal: AbortSignal) => AsyncGenerator<Buffer, void, undefined>;

/**
 * The core's speech as samples of 48 kHz on two channels. Not every provider produces raw samples: one that refuses, or sends something
 * else, is asked for wave files from then on.
 */
export function createSpeakPcm(speech: Pick<SpeechApi, 'speak'>): SpeakPcm {
  let format: 'pcm' | 'wav' = 'pcm';

  async function ask(text: string, sender: string, signal: AbortSignal): Promise<{ mime: string; body: Readable }> {
    try {
      const answer = await speech.speak({ sender, text, format }, signal);
      if (format === 'wav' || mayBeSamples(answer.mime)) return answer;
      answer.body.destroy();
    } catch (error) {
      if (format === 'wav' || !isFormatFault(error)) throw error;
    }
    format = 'wav';
    return speech.speak({ sender, text, format }, signal);
  }

  return async function* speakPcm(text, sender, signal) {
    const { mime, body } = await ask(text, sender, signal);
    try {
      const { data, form } = await readWav(body as AsyncIterable<Buffer>, mayBeSamples(mime) ? rawFormat : null);
      yield* convertPcm(data, form, playedFormat);
    } finally {
      body.destroy();
    }
  };
}

/** Other sound, such as MP3, would be loud noise if it were played as samples. */
const mayBeSamples = (mime: string): boolean => !/^(?:audio|video)\//.test(mime) || /^audio\/(?:x-)?(?:pcm|l16)\b/i.test(mime);

const isFormatFault = (error: unknown): boolean => error instanceof ServiceError && error.details?.['reason'] === 'bad_format';
