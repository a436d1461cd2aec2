import path from 'node:path';
import { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { Static } from '@svc/contract/schema.ts';
import { siloSchema } from '@svc/contract/silo.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import { type App, mountScope } from '@svc/service-kit/http/create-app.ts';
import type { Intake } from '@svc/service-kit/intake/intake.ts';
import { lazyCheck } from '../file/lazy-check.ts';
import { withRawBody } from '../file/raw-body.ts';
import { decodeBase64, notValid, readJsonBody } from '../file/read-json-file.ts';
import { sendFile } from '../file/send-file.ts';
import type { Silos } from './silos.ts';

type Deps = { silos: Silos; settings: Pick<CoreSettings, 'rawBodyBytes'>; intake: Intake };
type IdParams = { id: string };
type PathQuery = { path?: string };

const fileSchema = {
  type: 'object',
  required: ['path', 'data_base64'],
  properties: { path: { type: 'string' }, data_base64: { type: 'string' }, mime: { type: 'string', maxLength: 255 } },
} as const;
const isFile = lazyCheck<Static<typeof fileSchema>>(fileSchema);

/** Private file stores (spec: File routes in core). Only the operator reaches these routes. */
export function mountSiloRoutes(app: App, { silos, settings, intake }: Deps): void {
  app.post('/v2/silos', { schema: { body: siloSchema } }, async ({ body }) => ({
    ok: true,
    silo: await silos.create(body.name, body.min_trust),
  }));
  app.get('/v2/silos', async () => ({ silos: await silos.list() }));
  app.get<{ Params: IdParams; Querystring: { limit?: string; after?: string } }>('/v2/silos/:id', async ({ params, query }) => {
    const limit = queryInteger('limit', query.limit, 1000, 1, 10_000);
    const files = await silos.files(params.id, query.after ?? '', limit);
    return { ...(await silos.read(params.id)), list: files, next: files.length === limit ? (files.at(-1)?.path ?? null) : null };
  });

  app.delete<{ Params: IdParams; Querystring: { with_files?: string } }>('/v2/silos/:id', async ({ params, query }) => {
    await silos.drop(params.id, query.with_files === '1');
    return { ok: true };
  });

  app.get<{ Params: IdParams; Querystring: PathQuery }>(
    '/v2/silos/:id/file',
    { config: { sendsBytes: 'the file that was stored' } },
    async ({ params, query, raw }, reply) => {
      const content = await silos.content(params.id, query.path);
      const name = path.posix.basename(content.file.path);
      const { bytes, mime } = content.file;
      if ('place' in content) return sendFile(raw, reply, { id: content.file.path, path: content.place, name, mime });
      return reply
        .header('content-type', mime)
        .header('content-length', bytes)
        .header('accept-ranges', 'none')
        .header('content-disposition', contentDisposition(name))
        .header('x-content-type-options', 'nosniff')
        .header('content-security-policy', "default-src 'none'; sandbox")
        .header('cache-control', 'no-store')
        .send(content.stream);
    },
  );
  app.delete<{ Params: IdParams; Querystring: PathQuery }>('/v2/silos/:id/file', async ({ params, query }) => {
    await silos.delete(params.id, query.path);
    return { ok: true };
  });

  mountScope(app, (scope) => mountWrite(scope, { silos, settings, intake }));
}

/** The body is the file, whatever its content type; the query names its path. */
function mountWrite(app: App, { silos, settings, intake }: Deps): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.post<{ Params: IdParams; Querystring: PathQuery & { mime?: string } }>(
    '/v2/silos/:id/file',
    { config: { streamsBody: true } },
    async ({ params, query, raw }, reply) => {
      if (query.path !== undefined) {
        const mime = query.mime ?? raw.headers['content-type'];
        const file = await withRawBody(raw, settings.rawBodyBytes, (body) => silos.write(params.id, query.path, body, mime));
        return { ok: true, file, encrypted: file.encrypted };
      }
      const value = await readJsonBody(
        { request: raw, answer: reply.raw, intake },
        'Send the file as the body with its path in the query (?path=), or JSON with path and data_base64.',
      );
      if (!isFile(value)) throw notValid(isFile.errors);
      const body = Readable.from([decodeBase64(value.data_base64)], { objectMode: false });
      const file = await silos.write(params.id, value.path, body, value.mime);
      return { ok: true, file, encrypted: file.encrypted };
    },
  );
}
