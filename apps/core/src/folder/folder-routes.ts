import { channelPattern } from '@svc/contract/envelope.ts';
import { folderTiers, type FolderScope } from '@svc/contract/folder.ts';
import type { Static } from '@svc/contract/schema.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { badRequest, notFound } from '@svc/service-kit/service-error.ts';
import type { Folders } from './folders.ts';

type Deps = { folders: Folders };

const folderPath = { type: 'string', minLength: 1, maxLength: 4096 } as const;
const cwd = { type: ['string', 'null'], minLength: 1, maxLength: 4096, description: 'absolute; null clears' } as const;

/** Exactly one other field besides `cwd`. */
const folderBody = {
  type: 'object',
  required: ['cwd'],
  minProperties: 2,
  maxProperties: 2,
  additionalProperties: false,
  properties: {
    cwd,
    instance_id: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f]*$' },
    channel: { type: 'string', pattern: channelPattern },
    tier: { enum: folderTiers },
  },
} as const;

const trustBody = { type: 'object', required: ['path'], additionalProperties: false, properties: { path: folderPath } } as const;

/** The folders that turns work in, and the trusted ones, whose own settings may run. Only the operator reaches these routes. */
export function mountFolderRoutes(app: App, { folders }: Deps): void {
  app.get('/v2/folders', () => folders.list());

  app.put('/v2/folders', { schema: { body: folderBody } }, async ({ body, actor }) => {
    const target = targetOf(body);
    if (body.cwd === null) return { ok: true, cleared: await folders.clear(actor, target), folder: null };
    return { ok: true, folder: await folders.set(actor, { ...target, path: body.cwd, for: 'full' }) };
  });

  app.get('/v2/folders/trusted', () => ({ trusted: folders.trusted() }));

  app.post('/v2/folders/trusted', { schema: { body: trustBody } }, async ({ body, actor }) => ({
    ok: true,
    folder: await folders.trust(actor, body.path),
  }));

  app.delete<{ Querystring: { path?: string } }>('/v2/folders/trusted', async ({ query: { path }, actor }) => {
    if (path === undefined || path === '') throw badRequest('path is missing. GET /v2/folders/trusted lists the folders.');
    if (!(await folders.untrust(actor, path))) throw notFound('trusted folder', path);
    return { ok: true };
  });
}

function targetOf({ instance_id, channel, tier }: Static<typeof folderBody>): { scope: FolderScope; name: string } {
  if (instance_id !== undefined) return { scope: 'instance', name: instance_id };
  if (channel !== undefined) return { scope: 'channel', name: channel };
  if (tier !== undefined) return { scope: 'tier', name: tier };
  throw badRequest('Say what the folder is for: instance_id, channel or tier.');
}
