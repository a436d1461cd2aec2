import type { SpeechFormat } from '@svc/contract/speech.ts';
import { callEndpoint, callForJson, toMultipart } from './endpoint.ts';
import type { Clip, Heard, SpeechEndpoint, SpokenAudio, Utterance } from './provider.ts';
import { unexpectedResponse } from './endpoint-fault.ts';
import { checkFormat, toAudio } from './formats.ts';
import { toFile } from './openai.ts';

const usualVoice = 'JBFqnCBsd6RMkjVDRZzb';
const formats: Partial<Record<SpeechFormat, string>> = { mp3: 'mp3_44100_128', opus: 'opus_48000_64', pcm: 'pcm_24000' };
const made = Object.keys(formats) as SpeechFormat[]; // the keys of `formats` above

/** `POST /v1/text-to-speech/:voice/stream`. */
export async function speakElevenlabs(
  endpoint: SpeechEndpoint,
  { text, model, voice, format }: Utterance,
  signal: AbortSignal,
): Promise<SpokenAudio> {
  const asked = format ?? 'mp3';
  checkFormat(endpoint.label, asked, made);
  const call = {
    path: `/v1/text-to-speech/${encodeURIComponent(voice ?? usualVoice)}/stream?output_format=${formats[asked]}`,
    headers: { 'content-type': 'application/json', ...keyOf(endpoint) },
    parts: [Buffer.from(JSON.stringify({ text, model_id: model }))],
  };
  return toAudio(endpoint, await callEndpoint(endpoint, call, signal), asked);
}

/** `POST /v1/speech-to-text`. */
export async function transcribeElevenlabs(endpoint: SpeechEndpoint, clip: Clip, signal: AbortSignal): Promise<Heard> {
  const fields = { model_id: clip.model, ...(clip.language !== null && { language_code: clip.language }) };
  const { type, parts } = toMultipart(fields, toFile(clip));
  const headers = { 'content-type': type, ...keyOf(endpoint) };
  const answer = await callForJson(endpoint, { path: '/v1/speech-to-text', headers, parts }, signal);
  const { text, language_code } = (answer ?? {}) as { text?: unknown; language_code?: unknown };
  if (typeof text !== 'string') throw unexpectedResponse(endpoint);
  return { text: text.trim(), language: typeof language_code === 'string' ? language_code : clip.language };
}

const keyOf = ({ key }: SpeechEndpoint): Record<string, string> => (key === null ? {} : { 'xi-api-key': key.reveal() });
