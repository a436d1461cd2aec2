import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { SpeechFormat } from '@svc/contract/speech.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { speechFault, unexpectedResponse } from './endpoint-fault.ts';
import type { SpeechEndpoint, SpokenAudio } from './provider.ts';

const mimes: Record<SpeechFormat, string> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  // At OpenAI and ElevenLabs: 24,000 samples per second, mono, 16 bits, little-endian.
  pcm: 'audio/pcm',
};

/** An endpoint's response as audio, under its own content type where it names one. @throws ServiceError `upstream` for anything else. */
export function toAudio(endpoint: SpeechEndpoint, response: IncomingMessage, asked: SpeechFormat): SpokenAudio {
  const type = response.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const isAudio = type.startsWith('audio/') || type === '' || type === 'application/octet-stream';
  if (isAudio && response.headers['content-length'] !== '0') {
    return { mime: type.startsWith('audio/') ? type : mimes[asked], body: response };
  }
  response.destroy();
  throw unexpectedResponse(endpoint);
}

/** @throws ServiceError `unprocessable` for a format that a provider does not support. */
export function checkFormat(label: string, asked: SpeechFormat, made: readonly SpeechFormat[]): void {
  if (made.includes(asked)) return;
  throw speechFault('bad_format', `${label} makes ${made.join(', ')}, not ${asked}. Ask for another format.`);
}

const voicePattern = /^[\p{L}\p{N}][\p{L}\p{N} _.,+:()-]*$/u;
const modelPattern = /^[A-Za-z0-9][\w./:@-]*$/;

/** Names become parts of URLs, forms and arguments, so only valid ones pass. */
export function checkNames({ voice, model }: { voice?: string | null; model?: string | null }): void {
  if (voice != null && !voicePattern.test(voice)) throw badRequest(`"${voice.slice(0, 100)}" cannot be the name of a voice.`);
  if (model != null && !modelPattern.test(model)) throw badRequest(`"${model.slice(0, 100)}" cannot be the name of a model.`);
}
