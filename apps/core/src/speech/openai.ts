import { callEndpoint, callForJson, toMultipart } from './endpoint.ts';
import type { Clip, Heard, SpeechEndpoint, SpokenAudio, Utterance } from './provider.ts';
import { toAudio } from './formats.ts';
import { unexpectedResponse } from './endpoint-fault.ts';

const usualVoice = 'alloy';

/** `POST /audio/speech` of OpenAI and of compatible servers. */
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

type Answer = { text?: unknown; language?: unknown; languages?: { code?: unknown }[] };

/** `POST /audio/transcriptions` of OpenAI and of compatible servers. */
export async function transcribeOpenai(endpoint: SpeechEndpoint, clip: Clip, signal: AbortSignal): Promise<Heard> {
  const { model, language } = clip;
  const fields = {
    model,
    // The long form contains the language; the newer models support only the short one.
    response_format: /whisper/i.test(model) ? 'verbose_json' : 'json',
    ...(language !== null && { language }),
  };
  const { type, parts } = toMultipart(fields, toFile(clip));
  const headers = { 'content-type': type, accept: 'application/json', ...bearer(endpoint) };
  const answer = (await callForJson(endpoint, { path: '/audio/transcriptions', headers, parts }, signal)) as Answer | null;
  if (typeof answer?.text !== 'string') throw unexpectedResponse(endpoint);
  const found = answer.language ?? (Array.isArray(answer.languages) ? answer.languages[0]?.code : undefined);
  return { text: answer.text.trim(), language: typeof found === 'string' ? found : language };
}

/** The sender's own file name is not sent; the extension states the type. */
export const toFile = ({ bytes, type, mime }: Clip) => ({ field: 'file', filename: `clip.${type.extension}`, mime, bytes });
