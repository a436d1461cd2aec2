import { createReadStream } from 'node:fs';
import type { RestoreUndone } from '@svc/contract/backup.ts';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { type App, mountScope } from '@svc/service-kit/http/create-app.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { restoreState, undoRestore } from '@svc/service-kit/restore/restore-state.ts';
import { ServiceError, badRequest } from '@svc/service-kit/service-error.ts';
import { withRawBody } from '../file/raw-body.ts';
import { sendFile } from '../file/send-file.ts';
import type { Backups } from './backups.ts';
import type { Imports } from './import-backup.ts';

type Deps = {
  backups: Backups;
  imports: Imports;
  settings: Pick<CoreSettings, 'rawBodyBytes'>;
  paths: DataPaths;
  knownSecrets: Pick<KnownSecrets, 'learn'>;
};
type IdParams = { id: string };

const passphrase = { type: 'string', minLength: 8, maxLength: 1024 } as const;
const createSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    include_secrets: { type: 'object', required: ['passphrase'], additionalProperties: false, properties: { passphrase } },
  },
} as const;
const restoreSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: { passphrase: { type: 'string', minLength: 1, maxLength: 1024 } },
} as const;

/** The routes of backups (spec: Files in core). */
export function mountBackupRoutes(app: App, deps: Deps): void {
  const { backups, imports, paths, knownSecrets } = deps;
  const learn = (text: string | undefined): string | null => {
    if (text !== undefined) knownSecrets.learn([text]);
    return text ?? null;
  };

  app.post<{ Body: { include_secrets?: { passphrase: string } } | null }>(
    '/v2/backups',
    { schema: { body: createSchema } },
    async ({ body }, reply) => {
      const { id, state } = backups.create({ passphrase: learn(body?.include_secrets?.passphrase) });
      return reply.code(202).send({ ok: true, id, state });
    },
  );
  app.get('/v2/backups', () => ({ backups: backups.list(), restore: restoreState(paths.root) }));
  app.get<{ Params: IdParams }>('/v2/backups/:id', { config: { sendsBytes: 'the archive' } }, ({ params, raw }, reply) => {
    const { backup, file } = backups.archive(params.id);
    const name = `svc-backup-${new Date(backup.created_at).toISOString().slice(0, 16).replace(/[-:]/g, '')}.tar.gz`;
    return sendFile(raw, reply, { id: backup.id, path: file, name, mime: 'application/gzip' });
  });
  app.delete<{ Params: IdParams }>('/v2/backups/:id', ({ params }) => {
    backups.delete(params.id);
    return { ok: true };
  });

  app.post<{ Params: IdParams; Body: { passphrase?: string } | null }>(
    '/v2/backups/:id/restore',
    { schema: { body: restoreSchema } },
    async ({ params, body }) => {
      const { file } = backups.archive(params.id);
      return { ok: true, restore: await imports.take(createReadStream(file), learn(body?.passphrase)) };
    },
  );
  app.delete('/v2/backups/restore', (): RestoreUndone => {
    const undone = undoRestore(paths.root);
    if (undone === null) throw new ServiceError('not_found', 'There is no restore to undo.');
    return { ok: true, undone };
  });

  mountScope(app, (scope) => mountImport(scope, deps, learn));
}

/** The body is the archive, whatever its content type: only the route itself reads it. */
function mountImport(app: App, { imports, settings }: Deps, learn: (text: string | undefined) => string | null): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.post('/v2/backups/import', { config: { streamsBody: true } }, async ({ raw }) => {
    const passphrase = learn(passphraseOf(raw));
    return { ok: true, restore: await withRawBody(raw, settings.rawBodyBytes, (body) => imports.take(body, passphrase)) };
  });
}

/** In base64, because a header may contain only ASCII. */
function passphraseOf({ headers }: IncomingMessage): string | undefined {
  const header = headers['x-backup-passphrase'];
  if (header === undefined) return undefined;
  const text = typeof header === 'string' ? Buffer.from(header, 'base64').toString('utf8') : '';
  if (text === '' || text.length > 1024) throw badRequest('X-Backup-Passphrase must be the passphrase in base64.');
  return text;
}
