import { Readable } from 'node:stream';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { ConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import { type App, mountScope } from '@svc/service-kit/http/create-app.ts';
import type { Intake } from '@svc/service-kit/intake/intake.ts';
import { badRequest, notFound } from '@svc/service-kit/service-error.ts';
import { readJsonFile } from '../file/read-json-file.ts';
import { sendFile } from '../file/send-file.ts';
import { checkUploader, checkUploadOwner } from './check-uploader.ts';
import { createOutgoingFiles } from './outgoing-file.ts';
import { isUploadId } from './staging.ts';
import { tooLarge } from '../file/store-stream.ts';
import { uploadFilter, type UploadQuery } from './upload-filter.ts';
import type { Uploads } from './uploads.ts';

type Deps = {
  uploads: Uploads;
  settings: Pick<CoreSettings, 'rawBodyBytes'>;
  intake: Intake;
  paths: { uploads: string };
  connectorPasses: Pick<ConnectorPasses, 'check' | 'isTicket'>;
};
type IdParams = { id: string };
type OfConversation = { conversation_key?: string };

const facts = {
  mime: { type: 'string', maxLength: 255 },
  conversation_key: { type: 'string', minLength: 1, maxLength: 512 },
} as const;
/** With an empty name, a file sent as the body is called `file`. */
const rawQuery = { type: 'object', properties: { filename: { type: 'string', maxLength: 4096 }, ...facts } } as const;
const sha256 = { type: 'string', pattern: '^[0-9a-fA-F]{64}$' } as const;
const initSchema = {
  type: 'object',
  required: ['filename', 'mime', 'size'],
  properties: {
    filename: { type: 'string', minLength: 1, maxLength: 4096 },
    ...facts,
    size: { type: 'integer', minimum: 0 },
    sha256,
  },
} as const;
const outgoingQuery = {
  type: 'object',
  required: ['path'],
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 4096 },
    /** The conversation that the file has to belong to. */
    conversation_key: { type: 'string', minLength: 1, maxLength: 512 },
  },
} as const;
const finishSchema = { type: ['object', 'null'], properties: { sha256 } } as const;

/** The chunked protocol, files in one piece, the list and downloads (spec: File routes in core). */
export function mountUploadRoutes(app: App, deps: Deps): void {
  const { uploads } = deps;
  app.post('/v2/upload/init', { schema: { body: initSchema } }, async ({ body, headers }) => {
    checkUploader(deps, headers, body.conversation_key);
    return { ok: true, ...(await uploads.begin(body)) };
  });
  app.get<{ Params: IdParams; Querystring: OfConversation }>('/v2/upload/:id', async ({ params: { id }, query, headers }) => {
    await checkUploadOwner(deps, headers, { id, key: query.conversation_key });
    return await uploads.state(id);
  });
  app.post<{ Params: IdParams; Querystring: OfConversation; Body: { sha256?: string } | null }>(
    '/v2/upload/:id/finish',
    { schema: { body: finishSchema } },
    async ({ params: { id }, query, headers, body }) => {
      await checkUploadOwner(deps, headers, { id, key: query.conversation_key });
      return { ok: true, file: await uploads.finish(id, body?.sha256) };
    },
  );
  app.delete<{ Params: IdParams; Querystring: OfConversation }>('/v2/upload/:id', async ({ params: { id }, query, headers }) => {
    await checkUploadOwner(deps, headers, { id, key: query.conversation_key });
    await uploads.discard(id);
    return { ok: true };
  });

  app.get<{ Querystring: { limit?: string; before?: string } & UploadQuery }>('/v2/uploads', async ({ query }) => {
    const limit = queryInteger('limit', query.limit, 100, 1, 1000);
    const files = await uploads.manifest.page(query.before ?? null, limit, uploadFilter(query));
    return { files, next: files.length === limit ? (files.at(-1)?.id ?? null) : null };
  });
  app.delete<{ Params: IdParams }>('/v2/uploads/:id', ({ params }) => uploads.delete(params.id));
  app.get<{ Params: IdParams }>(
    '/v2/uploads/:id/file',
    { config: { sendsBytes: 'the file that was uploaded' } },
    async ({ params, raw }, reply) => {
      const entry = isUploadId(params.id) ? await uploads.manifest.find(params.id) : null;
      if (entry === null) throw notFound('file', params.id);
      return sendFile(raw, reply, entry);
    },
  );

  const outgoingFile = createOutgoingFiles(deps);
  app.get(
    '/v2/outgoing',
    { schema: { querystring: outgoingQuery }, config: { sendsBytes: 'the file' } },
    async ({ query, raw }, reply) => sendFile(raw, reply, await outgoingFile(query.path, raw.headers, query.conversation_key)),
  );

  mountScope(app, (scope) => mountBodyRoutes(scope, deps));
}

/** Here bodies are files, whatever their content type: only the route itself reads them. */
function mountBodyRoutes(app: App, deps: Deps): void {
  const { uploads, settings, intake } = deps;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  const config = { streamsBody: true };

  type Chunk = { Params: IdParams & { index: string }; Querystring: OfConversation };
  app.put<Chunk>('/v2/upload/:id/:index', { config }, async (request) => {
    const { id, index } = request.params;
    if (!/^\d{1,9}$/.test(index)) throw badRequest(`"${index.slice(0, 100)}" is not the number of a chunk. They count from 0.`);
    await checkUploadOwner(deps, request.headers, { id, key: request.query.conversation_key });
    const landed = await uploads.receive(id, Number(index), { body: request.raw, ...chunkHeaders(request.raw) });
    return { ok: true, ...landed };
  });

  app.post('/v2/upload', { config, schema: { querystring: rawQuery } }, async (request, reply) => {
    const { filename, mime, conversation_key } = request.query;
    // A name in the query means that the body is the file, whatever it looks like.
    if (filename === undefined) {
      const { facts, bytes } = await readJsonFile({ request: request.raw, answer: reply.raw, intake });
      checkUploader(deps, request.headers, facts.conversation_key);
      return { ok: true, file: await uploads.take(Readable.from([bytes]), facts) };
    }
    checkUploader(deps, request.headers, conversation_key);
    const { length } = chunkHeaders(request.raw);
    if ((length ?? 0) > settings.rawBodyBytes) throw tooLarge(settings.rawBodyBytes, 'SVC_RAW_BODY_LIMIT');
    const type = mime ?? request.headers['content-type'];
    return { ok: true, file: await uploads.take(request.raw, { filename, mime: type, conversation_key }) };
  });
}

function chunkHeaders({ headers }: IncomingMessage) {
  const digest = headers['x-chunk-sha256'];
  if (digest !== undefined && (typeof digest !== 'string' || !/^[0-9a-fA-F]{64}$/.test(digest))) {
    throw badRequest('X-Chunk-Sha256 takes 64 hexadecimal digits.');
  }
  const length = headers['content-length'];
  return { length: length === undefined ? null : Number(length), sha256: digest?.toLowerCase() ?? null };
}
