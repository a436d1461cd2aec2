import { text } from 'node:stream/consumers';
import type { Transcription } from '@svc/contract/speech.ts';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { SpeechApi } from './connector.ts';
import { createCorePost, toFault, type CorePostOptions } from './core-post.ts';

/** Calls the core's speech routes on behalf of a sender. Every rejection is a `ServiceError`. */
export function createSpeech(options: CorePostOptions): SpeechApi {
  const ask = createCorePost(options);

  return {
    async speak({ sender, ...speech }, signal) {
      const answer = await ask(
        `/v2/tts?${new URLSearchParams({ sender }).toString()}`,
        { type: 'application/json', bytes: Buffer.from(JSON.stringify(speech)) },
        signal,
      );
      return { mime: answer.headers['content-type'] ?? 'application/octet-stream', body: answer };
    },

    async transcribe({ sender, data, mime, model, language }, signal) {
      const query = new URLSearchParams({ sender });
      for (const [name, value] of Object.entries({ model, language })) if (value !== undefined) query.set(name, value);
      const body = { type: mime ?? 'application/octet-stream', bytes: data };
      const answer = await ask(`/v2/transcribe?${query.toString()}`, body, signal);
      // The cast: the status shows that it is such an answer (contract of the core).
      return parseJsonOrNull(await text(answer).catch((error: unknown) => Promise.reject(toFault(error)))) as Transcription;
    },
  };
}
