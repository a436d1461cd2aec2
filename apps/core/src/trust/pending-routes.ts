import type { Static } from '@svc/contract/schema.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { principalKeyPattern } from './identifier-value.ts';
import type { LinkTarget } from './link-identity.ts';
import type { Pairing } from './pairing.ts';
import type { Pending } from './pending.ts';

const name = { type: 'string', minLength: 1, maxLength: 80, pattern: '\\S' } as const;
const role = { type: 'string', minLength: 1, maxLength: 64 } as const;
const key = { type: 'string', pattern: principalKeyPattern } as const;

const linkBody = {
  type: 'object',
  properties: {
    principal_id: { type: 'string', minLength: 1, maxLength: 128 },
    principal: { type: 'object', required: ['key', 'role'], properties: { key, display_name: name, role } },
  },
} as const;

const pairBody = {
  type: 'object',
  required: ['code'],
  properties: {
    code: { type: 'string', minLength: 1, maxLength: 100 },
    as: { type: 'string', minLength: 1, maxLength: 256 },
    role,
    name,
  },
} as const;

/** Unknown senders who wait, and letting them in (decisions: Default-deny; Unknown senders). */
export function mountPendingRoutes(app: App, { pending, pairing }: { pending: Pending; pairing: Pairing }): void {
  app.get('/trust/pending', async () => ({ pending: await pending.list() }));

  app.post<{ Params: { id: string }; Body: Static<typeof linkBody> }>(
    '/trust/pending/:id/link',
    { schema: { body: linkBody } },
    ({ params, body, actor }) => pairing.link(actor, params.id, toTarget(body)),
  );

  app.delete<{ Params: { id: string } }>('/trust/pending/:id', ({ params }) => {
    pending.remove(pending.read(params.id));
    return { ok: true };
  });

  app.post('/trust/pair', { schema: { body: pairBody } }, ({ body, actor }) => pairing.pair(actor, body));
}

function toTarget({ principal_id, principal }: Static<typeof linkBody>): LinkTarget {
  if (principal_id !== undefined && principal === undefined) return { type: 'id', id: principal_id };
  if (principal_id === undefined && principal !== undefined) {
    return { type: 'new', key: principal.key, display_name: principal.display_name ?? null, role: principal.role };
  }
  throw badRequest('Give either "principal_id" of a principal there is, or "principal" for a new one.');
}
