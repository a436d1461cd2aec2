import type { Static } from '@svc/contract/schema.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { createHighRights } from './high-rights.ts';
import { principalKeyPattern } from './identifier-value.ts';
import type { LinkTarget } from './link-identity.ts';
import { defaultRole, type Pairing } from './pairing.ts';
import type { Pending } from './pending.ts';
import type { TrustAdmin } from './trust-admin.ts';
import { grantScope, time } from './trust-schemas.ts';

const name = { type: 'string', minLength: 1, maxLength: 80, pattern: '\\S' } as const;
const role = { type: 'string', minLength: 1, maxLength: 64 } as const;
const key = { type: 'string', pattern: principalKeyPattern } as const;

const linkBody = {
  type: 'object',
  properties: {
    principal_id: { type: 'string', minLength: 1, maxLength: 128 },
    principal: {
      type: 'object',
      required: ['key', 'role'],
      properties: { key, display_name: name, role, scope: grantScope, expires_at: time },
    },
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

type Deps = { pending: Pending; pairing: Pairing; trustAdmin: TrustAdmin };

/** Unknown senders who wait, and letting them in (decisions: Default-deny; Unknown senders). */
export function mountPendingRoutes(app: App, { pending, pairing, trustAdmin }: Deps): void {
  const highRights = createHighRights({ trustAdmin });
  app.get('/trust/pending', async () => ({ pending: await pending.list() }));

  app.post<{ Params: { id: string }; Body: Static<typeof linkBody> }>(
    '/trust/pending/:id/link',
    { schema: { body: linkBody } },
    async (request) => {
      const { params, body, actor } = request;
      const target = toTarget(body);
      if (target.type === 'new') await highRights.checkRole(request, target.role);
      else await highRights.checkPerson(request, target.id);
      return pairing.link(actor, params.id, target);
    },
  );

  app.delete<{ Params: { id: string } }>('/trust/pending/:id', ({ params }) => {
    pending.remove(pending.read(params.id));
    return { ok: true };
  });

  app.post('/trust/pair', { schema: { body: pairBody } }, async (request) => {
    const { as, role = defaultRole } = request.body;
    if (as === undefined) await highRights.checkRole(request, role);
    else await highRights.checkPerson(request, as);
    return pairing.pair(request.actor, request.body);
  });
}

function toTarget({ principal_id, principal }: Static<typeof linkBody>): Exclude<LinkTarget, { type: 'key' }> {
  if (principal_id !== undefined && principal === undefined) return { type: 'id', id: principal_id };
  if (principal_id === undefined && principal !== undefined) {
    const { key: named, display_name = null, role: given, scope, expires_at } = principal;
    return { type: 'new', key: named, display_name, role: given, scope, expires_at };
  }
  throw badRequest('Give either "principal_id" of an existing principal, or "principal" for a new one.');
}
