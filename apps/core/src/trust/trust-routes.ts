import type { Static } from '@svc/contract/schema.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { requireSecondFactor } from '@svc/service-kit/http/second-factor.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { firstFitting } from '@svc/store/read-page.ts';
import { createHighRights } from './high-rights.ts';
import type { TrustAdmin } from './trust-admin.ts';
import type { TrustAudit } from './trust-audit.ts';
import {
  grantBody,
  identifierBody,
  principalBody,
  principalPatch,
  resolveBody,
  roleBody,
  toolServersBody,
} from './trust-schemas.ts';
import type { TrustService } from './trust-service.ts';

type Deps = { trust: TrustService; trustAdmin: TrustAdmin; trustAudit: TrustAudit; db: SqliteDatabase };
type Id = { Params: { id: string } };

/** The trust framework's resources (spec: Trust framework routes). A principal or role is named by its id, its key or its name. */
export function mountTrustRoutes(app: App, deps: Deps): void {
  mountResolve(app, deps);
  mountPrincipals(app, deps);
  mountRoles(app, deps);

  app.get<{ Querystring: Record<string, string> }>('/trust/audit', ({ query }) => {
    const limit = queryInteger('limit', query['limit'], 100, 1, 1000);
    const before = queryInteger('before', query['before'], Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER);
    return deps.trustAudit.list(deps.db, { limit, before, principal: query['principal'] ?? null });
  });
}

/** `POST /trust/resolve`: effective trust of a sender, without a turn; with `explain`, also the grants that it comes from. */
function mountResolve(app: App, { trust }: Pick<Deps, 'trust'>): void {
  app.post('/trust/resolve', { schema: { body: resolveBody } }, ({ body }) => {
    const { channel, sender, context = {}, explain } = body;
    const envelope = {
      channel,
      sender,
      public: context.public === true || body.public === true,
      conversation_key: context.conversation_key ?? body.conversation_key ?? '',
    };
    return explain === true ? trust.explain(envelope) : trust.resolve(envelope);
  });
}

function mountPrincipals(app: App, { trustAdmin: admin }: Pick<Deps, 'trustAdmin'>): void {
  const highRights = createHighRights({ trustAdmin: admin });
  app.get<{ Querystring: Record<string, string> }>('/trust/principals', async ({ query }) => {
    const limit = queryInteger('limit', query['limit'], 1000, 1, 1000);
    const rows = await admin.pagePrincipals(query['after'] ?? '', limit);
    const principals = firstFitting(rows);
    const isAll = principals.length === rows.length && rows.length < limit;
    return { principals, next: isAll ? null : (principals.at(-1)?.id ?? null) };
  });

  app.get<Id>('/trust/principals/:id', ({ params }) => admin.readPrincipal(params.id));

  app.post('/trust/principals', { schema: { body: principalBody } }, ({ body, actor }) => admin.createPrincipal(actor, body));

  app.patch<Id & { Body: Static<typeof principalPatch> }>(
    '/trust/principals/:id',
    { schema: { body: principalPatch } },
    async (request) => {
      const { params, body, actor } = request;
      if (body.bypass_moderation === true) requireSecondFactor(request);
      if (body.status === 'active') await highRights.checkPerson(request, params.id);
      return admin.updatePrincipal(actor, params.id, body);
    },
  );

  app.delete<Id>('/trust/principals/:id', async ({ params, actor }) => {
    await admin.deletePrincipal(actor, params.id);
    return { ok: true };
  });

  app.post<Id & { Body: Static<typeof identifierBody> }>(
    '/trust/principals/:id/identifiers',
    { schema: { body: identifierBody } },
    ({ params, body, actor }) => admin.addIdentifier(actor, params.id, body.surface, body.value, body.from),
  );

  app.delete<{ Params: { iid: string } }>('/trust/identifiers/:iid', async ({ params, actor }) => {
    await admin.removeIdentifier(actor, params.iid);
    return { ok: true };
  });

  app.post<Id & { Body: Static<typeof grantBody> }>(
    '/trust/principals/:id/grants',
    { schema: { body: grantBody } },
    async (request) => {
      const { params, body, actor } = request;
      await highRights.checkRole(request, body.role_id);
      return admin.addGrant(actor, params.id, body);
    },
  );

  app.delete<{ Params: { gid: string } }>('/trust/grants/:gid', async (request) => {
    const { params, actor } = request;
    await highRights.checkRevoke(request, params.gid);
    await admin.removeGrant(actor, params.gid);
    return { ok: true };
  });
}

/** `PUT …/tool-servers`: which tool servers turns of a role may use. */
function mountRoles(app: App, { trustAdmin: admin }: Pick<Deps, 'trustAdmin'>): void {
  app.get('/trust/roles', async () => ({ roles: await admin.listRoles() }));

  app.post('/trust/roles', { schema: { body: roleBody } }, ({ body, actor }) => admin.saveRole(actor, body));

  app.delete<Id>('/trust/roles/:id', async ({ params, actor }) => {
    await admin.deleteRole(actor, params.id);
    return { ok: true };
  });

  app.put<Id & { Body: Static<typeof toolServersBody> }>(
    '/trust/roles/:id/tool-servers',
    { schema: { body: toolServersBody } },
    async ({ params, body: { tool_servers }, actor }) => {
      const { id: _id, ...role } = await admin.readRole(params.id);
      await admin.saveRole(actor, { ...role, tool_servers });
      return { ok: true, role: role.name, tool_servers };
    },
  );
}
