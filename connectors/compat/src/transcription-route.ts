import type { SpeechApi } from '@svc/connector-kit/connector.ts';
import { chooseConnection, sendJson, type Exchange } from '@svc/connector-kit/http/exchange.ts';
import type { Route } from '@svc/connector-kit/http/route-table.ts';
import type { Transcription } from '@svc/contract/speech.ts';
import type { Identify } from './chat-completions.ts';
import { refuse } from './completion-error.ts';
import type { FormReader } from './read-form.ts';
import { routeDocs } from './route-docs.ts';
import { ownModel, toSpeechFault } from './speech-fault.ts';
import { readerGone } from './speech-route.ts';

type Deps = { speech: SpeechApi; identify: Identify; readForm: FormReader; modelName: string };
type Format = 'json' | 'text';
type Wish = { file: File; model?: string; language?: string; format: Format; isStream: boolean };

/** `POST /v1/audio/transcriptions`: the words of a clip, on behalf of the key's person. */
export const createTranscriptionRoute = ({ speech, identify, readForm, modelName }: Deps): Route => ({
  method: 'POST',
  path: '/v1/audio/transcriptions',
  doc: routeDocs.transcriptions,
  async handle(exchange) {
    const { identity } = identify(exchange);
    const { file, model, language, ...shape } = parseForm(await readForm(exchange), modelName);
    const clip = {
      sender: identity,
      data: Buffer.from(await file.arrayBuffer()),
      mime: /^(?:audio|video)\//.test(file.type) ? file.type : undefined,
      model,
      language,
    };
    const heard = await speech
      .transcribe(clip, readerGone(exchange))
      .catch((error: unknown) => Promise.reject(toSpeechFault(error)));
    send(exchange, heard, shape);
  },
});

/** Fields that would change the form or the meaning of the answer. */
const refusedFields = ['timestamp_granularities[]', 'include[]', 'known_speaker_names[]', 'known_speaker_references[]'];

function parseForm(form: FormData, modelName: string): Wish {
  const file = form.get('file');
  if (!(file instanceof File)) throw refuse('file', "'file' must be a file in the form.", 'invalid_type');
  for (const name of refusedFields)
    if (form.has(name) || form.has(name.slice(0, -2)))
      throw refuse(name, `'${name}' is not supported: the response is only the text.`, 'unsupported_parameter');
  const format = text(form, 'response_format') ?? 'json';
  if (format !== 'json' && format !== 'text')
    throw refuse(
      'response_format',
      "'response_format' must be json or text: timestamps and speakers are not available.",
      'unsupported_parameter',
    );
  return {
    file,
    model: ownModel(form.get('model'), modelName),
    language: text(form, 'language'),
    format,
    isStream: text(form, 'stream') === 'true',
  };
}

function text(form: FormData, name: string): string | undefined {
  const value = form.get(name);
  if (value === null || value === '') return undefined;
  if (typeof value === 'string' && value.length <= 128) return value;
  throw refuse(name, `'${name}' must be a string of at most 128 characters.`, 'invalid_value');
}

function send(exchange: Exchange, heard: Transcription, { format, isStream }: Pick<Wish, 'format' | 'isStream'>): void {
  if (isStream) return sendText(exchange, 'text/event-stream; charset=utf-8', eventsOf(heard.text));
  if (format === 'text') return sendText(exchange, 'text/plain; charset=utf-8', `${heard.text}\n`);
  sendJson(exchange, {
    status: 200,
    body: JSON.stringify({ text: heard.text, usage: { type: 'duration', seconds: Math.ceil(heard.seconds) } }),
  });
}

function sendText(exchange: Exchange, type: string, body: string): void {
  chooseConnection(exchange);
  exchange.res.writeHead(200, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'x-request-id': exchange.requestId,
  });
  exchange.res.end(body);
}

/** The whole text is available at once, so the stream has one delta. */
const eventsOf = (heard: string): string =>
  [
    { type: 'transcript.text.delta', delta: heard },
    { type: 'transcript.text.done', text: heard },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('');
