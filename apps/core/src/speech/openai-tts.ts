import { callEndpoint } from './endpoint.ts';
import type { SpeechEndpoint } from './speech-endpoint.ts';
import { toAudio } from './formats.ts';
import type { SpokenAudio, Utterance } from './provider.ts';

const usualVoice = 'alloy';

/** `POST /audio/speech` of OpenAI, and of servers that speak the same. */
export async function speakOpenai(
  endpoint: SpeechEndpoint,
  { text, model, voice, format }: Utterance,
  signal: AbortSignal,
): Promise<SpokenAudio> {
  const response_format = format ?? 'mp3';
  const body = { model, input: text, voice: voice ?? usualVoice, response_format };
  const call = {
    path: '/audio/speech',
    headers: { 'content-type': 'application/json', ...bearer(endpoint) },
    parts: [Buffer.from(JSON.stringify(body))],
  };
  return toAudio(endpoint, await callEndpoint(endpoint, call, signal), response_format);
}

export const bearer = ({ key }: SpeechEndpoint): Record<string, string> =>
  key === null ? {} : { authorization: `Bearer ${key.reveal()}` };
