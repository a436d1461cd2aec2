import type { FastifyReply } from 'fastify';
import type { Static } from '@svc/contract/schema.ts';
import { speechSchema, type RecordingResult, type Transcription } from '@svc/contract/speech.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { type App, mountScope } from '@svc/service-kit/http/create-app.ts';
import type { Intake } from '@svc/service-kit/intake/intake.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { mimeOfName, plainMime } from '../file/file-name.ts';
import { tooLarge } from '../file/store-stream.ts';
import type { Uploads } from '../upload/uploads.ts';
import { audioTypeOf } from './audio-type.ts';
import { checkAudioMime, readJsonClip, readRawClip, readStoredClip } from './read-clip.ts';
import type { ConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import type { TrustService } from '../trust/trust-service.ts';
import { speakerOf } from './speaker.ts';
import type { Speech } from './speech.ts';

type Deps = {
  speech: Speech;
  uploads: Uploads;
  settings: Pick<CoreSettings, 'rawBodyBytes' | 'stt'>;
  clock: Clock;
  intake: Intake;
  trust: Pick<TrustService, 'resolve'>;
  connectorPasses: Pick<ConnectorPasses, 'check'>;
};

const name = { type: 'string', minLength: 1, maxLength: 128 } as const;
/** The sender for whom a connector makes the request. */
const sender = { type: 'string', minLength: 1, maxLength: 256 } as const;
const speakerSchema = { type: 'object', properties: { sender } } as const;
const clipQuery = { mime: { type: 'string', maxLength: 255 }, model: name, language: name } as const;
const transcribeSchema = { type: 'object', properties: { ...clipQuery, sender } } as const;
const recordingSchema = {
  type: 'object',
  properties: {
    ...clipQuery,
    filename: { type: 'string', minLength: 1, maxLength: 4096 },
    conversation_key: { type: 'string', minLength: 1, maxLength: 512 },
    transcribe: { enum: ['1', 'true', '0', 'false'] },
  },
} as const;
type RecordingQuery = Static<typeof recordingSchema>;

/** Text to speech, speech to text, and recordings (spec: File routes in core). */
export function mountSpeechRoutes(app: App, deps: Deps): void {
  app.get('/v2/speech', () => deps.speech.report());

  app.post(
    '/v2/tts',
    {
      config: { sendsBytes: 'speech; the text was masked before it was spoken' },
      schema: { body: speechSchema, querystring: speakerSchema },
    },
    async (request, reply) => {
      const speaker = await speakerOf(deps, request, request.query.sender);
      const audio = await deps.speech.speak(request.body, callerGone(reply), speaker);
      return reply
        .header('content-type', audio.mime)
        .header('cache-control', 'no-store')
        .header('x-content-type-options', 'nosniff')
        .send(audio.body);
    },
  );

  mountScope(app, (scope) => mountClipRoutes(scope, deps));
}

/** Here bodies are clips, whatever their content type: only the route itself reads them. */
function mountClipRoutes(app: App, deps: Deps): void {
  const { speech, uploads, settings, clock, intake } = deps;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  const config = { streamsBody: true };
  const { maxBytes } = settings.stt;
  const limits = { clipBytes: maxBytes, bodyBytes: settings.rawBodyBytes };

  app.post('/v2/transcribe', { config, schema: { querystring: transcribeSchema } }, async (request, reply) => {
    const { query, raw } = request;
    const { mime, model = null, language = null } = query;
    const speaker = await speakerOf(deps, request, query.sender);
    // A type in the query means that the body is the clip, whatever it looks like.
    const read = () =>
      mime === undefined && isJson(raw)
        ? readJsonClip({ request: raw, answer: reply.raw, intake }, maxBytes)
        : readRawClip(raw, mime, limits);
    return speech.transcribe({ read, wishes: { model, language }, conversationKey: null }, callerGone(reply), speaker);
  });

  app.post('/v2/recordings', { config, schema: { querystring: recordingSchema } }, async ({ query, raw }, reply) => {
    const { model = null, language = null, conversation_key, transcribe } = query;
    checkLength(raw, settings.rawBodyBytes);
    const mime = await recordingMime(query, raw);
    const filename = query.filename ?? nameOf(mime, clock.now());
    const file = await uploads.take(raw, { filename, mime, conversation_key }, 'recording');
    if (transcribe !== '1' && transcribe !== 'true') return { ok: true, file } satisfies RecordingResult;
    const read = () => readStoredClip(file, maxBytes);
    const clip = { read, wishes: { model, language }, conversationKey: conversation_key ?? null };
    return withTranscription(file, speech.transcribe(clip, callerGone(reply)));
  });
}

/** The recording is stored already, so a failed transcription is reported inside the answer. */
async function withTranscription(file: UploadedFile, work: Promise<Transcription>): Promise<RecordingResult> {
  try {
    return { ok: true, file, transcription: await work };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { ok: true, file, transcription: { ok: false, error: error.code, message: error.message } };
  }
}

/** The type from the query, the header or the file extension. */
async function recordingMime({ mime, filename }: RecordingQuery, raw: IncomingMessage): Promise<string> {
  const said = plainMime(mime ?? raw.headers['content-type']);
  const found = said ?? (filename === undefined ? 'application/octet-stream' : await mimeOfName(filename));
  checkAudioMime(found);
  return found;
}

/** `recording-2026-11-21-083005.ogg`. */
function nameOf(mime: string, now: number): string {
  const [day = '', time = ''] = new Date(now).toISOString().split('T');
  return `recording-${day}-${time.slice(0, 8).replaceAll(':', '')}.${audioTypeOf(mime)?.extension ?? 'bin'}`;
}

function checkLength({ headers }: IncomingMessage, limit: number): void {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit, 'SVC_RAW_BODY_LIMIT');
}

const isJson = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase() === 'application/json';

/** Aborts when the caller disconnects before the answer is complete, so that nothing is paid for speech that nobody hears. */
function callerGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => raw.writableFinished || gone.abort());
  return gone.signal;
}
