import { conversationKeySchema } from '@svc/contract/envelope.ts';
import { folderPolicies, type FolderPolicy } from '@svc/contract/folder.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { badRequest, notFound } from '@svc/service-kit/service-error.ts';
import type { Folders } from '../folder/folders.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Titles } from '../session/session-titles.ts';

type Deps = {
  folders: Pick<Folders, 'set' | 'clear' | 'hasOwn'>;
  sessions: Pick<SessionStore, 'read'>;
  titles: Pick<Titles, 'set'>;
};

/** A title has to fit on one line of a list. */
const title = {
  type: ['string', 'null'],
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\p{Cc}\\u2028\\u2029]*$',
  description: 'one line; null gives it back to the service',
} as const;

const params = { type: 'object', required: ['key'], properties: { key: conversationKeySchema } } as const;
const body = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: {
    cwd: { type: ['string', 'null'], minLength: 1, maxLength: 4096, description: 'absolute; null clears' },
    for: { enum: folderPolicies },
    title,
  },
} as const;

/** `PATCH /v2/session/:key`: changes the title or the folder of a session, or both, for an operator. */
export function mountSessionChanges(app: App, deps: Deps): void {
  app.patch('/v2/session/:key', { schema: { params, body } }, async ({ params: { key }, body: changes, actor }) => {
    if (changes.for !== undefined && (changes.cwd ?? null) === null)
      throw badRequest('"for" says who works in a folder: give "cwd" as well.');
    const plain = changes.title?.trim();
    if (plain !== undefined && !/[\p{L}\p{N}\p{P}\p{S}]/u.test(plain)) throw badRequest('"title" has no visible characters.');
    const isKnown = (await deps.sessions.read(key)) !== undefined;
    if (changes.title !== undefined && !isKnown) throw notFound('session', key);
    const folder =
      changes.cwd === undefined ? {} : await setFolder(deps, { actor, key, cwd: changes.cwd, for: changes.for, isKnown });
    const titled = changes.title === undefined ? {} : await deps.titles.set(key, plain ?? null);
    if (titled === null) throw notFound('session', key);
    return { ok: true, ...folder, ...titled };
  });
}

type FolderChange = { actor: string; key: string; cwd: string | null; for?: FolderPolicy; isKnown: boolean };

async function setFolder({ folders }: Deps, { actor, key, cwd, for: policy = 'full', isKnown }: FolderChange) {
  const target = { scope: 'conversation', name: key } as const;
  if (cwd === null) {
    const cleared = await folders.clear(actor, target);
    if (!cleared && !isKnown) throw notFound('session', key);
    return { cleared, folder: null };
  }
  // A mistyped key would get a folder for a conversation that never exists.
  if (!isKnown && !folders.hasOwn(key)) throw notFound('session', key);
  return { folder: await folders.set(actor, { ...target, path: cwd, for: policy }) };
}
