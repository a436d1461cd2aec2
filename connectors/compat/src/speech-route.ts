import { pipeline } from 'node:stream/promises';
import type { SpeechApi } from '@svc/connector-kit/connector.ts';
import { chooseConnection, onceOver, type Exchange } from '@svc/connector-kit/http/exchange.ts';
import type { JsonReader } from '@svc/connector-kit/http/read-json.ts';
import type { Route } from '@svc/connector-kit/http/route-table.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { speechFormats, type SpeechFormat } from '@svc/contract/speech.ts';
import type { Identify } from './chat-completions.ts';
import { refuse } from './completion-error.ts';
import { routeDocs } from './route-docs.ts';
import { ownModel, toSpeechFault } from './speech-fault.ts';

type Deps = { speech: SpeechApi; identify: Identify; readJson: JsonReader; modelName: string };

/** `POST /v1/audio/speech`: streams a text as speech, on behalf of the key's person. */
export const createSpeechRoute = ({ speech, identify, readJson, modelName }: Deps): Route => ({
  method: 'POST',
  path: '/v1/audio/speech',
  doc: routeDocs.speech,
  async handle(exchange) {
    const caller = identify(exchange);
    const wish = parseSpeech(await readJson(exchange.req), modelName);
    const signal = readerGone(exchange);
    const audio = await speech
      .speak({ sender: caller.identity, ...wish }, signal)
      .catch((error: unknown) => Promise.reject(toSpeechFault(error)));
    chooseConnection(exchange);
    exchange.res.writeHead(200, { 'content-type': audio.mime, 'x-request-id': exchange.requestId });
    // An error breaks the connection, so that half a speech is not taken for a whole one.
    await pipeline(audio.body, exchange.res).catch(() => undefined);
  },
});

/** Aborts when the reader disconnects, so that nobody pays for speech that nobody hears. */
export function readerGone(exchange: Exchange): AbortSignal {
  const gone = new AbortController();
  onceOver(exchange, () => exchange.res.writableFinished || gone.abort());
  return gone.signal;
}

type Wish = { text: string; voice?: string; model?: string; format?: SpeechFormat };

function parseSpeech(body: unknown, modelName: string): Wish {
  if (!isRecord(body)) throw refuse(null, 'The body must be a JSON object.');
  const { input, model, voice, response_format: format } = body;
  if (typeof input !== 'string' || input.trim() === '')
    throw refuse('input', "'input' must be a non-empty string.", 'invalid_type');
  if (body['speed'] != null && body['speed'] !== 1) throw unsupported('speed', 'the speed of the voice cannot be changed');
  if (body['instructions'] != null && body['instructions'] !== '')
    throw unsupported('instructions', 'the voice accepts no instructions');
  if (body['stream_format'] != null && body['stream_format'] !== 'audio')
    throw unsupported('stream_format', 'the response is the audio itself');
  return { text: input, voice: voiceOf(voice), model: ownModel(model, modelName), format: formatOf(format) };
}

/** `default` means the voice in the settings. */
function voiceOf(voice: unknown): string | undefined {
  const name = isRecord(voice) ? voice['id'] : voice;
  if (name === undefined || name === null || name === 'default') return undefined;
  if (typeof name !== 'string' || name === '' || name.length > 128)
    throw refuse('voice', "'voice' must be the name of a voice.", 'invalid_value');
  return name;
}

function formatOf(format: unknown): SpeechFormat | undefined {
  if (format === undefined || format === null) return undefined;
  const known = speechFormats.find((each) => each === format);
  if (known === undefined)
    throw refuse('response_format', `'response_format' must be one of ${speechFormats.join(', ')}.`, 'invalid_value');
  return known;
}

const unsupported = (param: string, why: string) =>
  refuse(param, `'${param}' is not supported: ${why}.`, 'unsupported_parameter');
