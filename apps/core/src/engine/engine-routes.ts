import { engineSettingsSchema, type BaseUrlSet, type EngineView } from '@svc/contract/engine.ts';
import type { Static } from '@svc/contract/schema.ts';
import { engineTraits } from '@svc/service-kit/config/engine-traits.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { refusePlaceholder } from '@svc/service-kit/redaction/placeholder.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { RecordChange } from '../trust/record-change.ts';
import { checkEngine, type SideCallDeps } from './check-engine.ts';
import type { EngineAdmin } from './engine-admin.ts';
import type { EngineRegistry } from './engine-registry.ts';
import type { EngineFallback } from './fallback.ts';
import type { OfferModelServers } from './open-engines.ts';
import type { SubscriptionWarning } from './subscription-warning.ts';

const keyBody = {
  type: 'object',
  required: ['value'],
  properties: { value: { type: 'string', minLength: 8, maxLength: 4096, pattern: '^[\\x21-\\x7e]+$' } },
} as const;

const urlBody = { type: 'object', required: ['url'], properties: { url: { type: 'string', maxLength: 4096 } } } as const;

type Deps = SideCallDeps & {
  settings: Pick<CoreSettings, 'engineFallback'>;
  engines: Pick<EngineRegistry, 'active' | 'open'>;
  engineFallback: Pick<EngineFallback, 'notice'>;
  engineAdmin: EngineAdmin;
  record: RecordChange;
  offeredModelServers: OfferModelServers;
  subscriptionWarning: Pick<SubscriptionWarning, 'of'>;
};
type Params = { Params: { id: string } };

/** The engines: their state, which one is used and why, and their settings (spec: Engine settings). */
export function mountEngineRoutes(app: App, deps: Deps): void {
  const { engines, engineFallback, engineAdmin: admin, knownSecrets, subscriptionWarning, record } = deps;
  const shown = (view: EngineView) => withoutSecrets(view, knownSecrets);
  let isTesting = false;

  app.get('/v2/engines', async () => {
    const views = (await admin.list()).map(shown);
    const withNotices = views.map(async (view) => ({
      ...view,
      notice: engineFallback.notice(view.id),
      warning: view.ready && view.auth === 'subscription' ? await subscriptionWarning.of(view.id) : null,
    }));
    return {
      engines: await Promise.all(withNotices),
      current: (await engines.active()).choice,
      model_servers: await deps.offeredModelServers(views),
    };
  });

  app.patch<Params & { Body: Static<typeof engineSettingsSchema> }>(
    '/v2/engines/:id',
    { schema: { body: engineSettingsSchema } },
    async ({ params, body }) => {
      refusePlaceholder(body, 'The change');
      return { ok: true, engine: shown(await admin.change(admin.idOf(params.id), body)) };
    },
  );

  app.post<Params>('/v2/engines/:id/default', async ({ params }) => {
    const engine = shown(await admin.makeDefault(admin.idOf(params.id)));
    return {
      ok: true,
      engine,
      warnings: engine.ready ? [] : [notReady(engine, await admin.list(), deps.settings.engineFallback)],
    };
  });

  app.delete('/v2/engines/default', async () => {
    await admin.clearDefault();
    return { ok: true, current: (await engines.active()).choice };
  });

  app.post<Params>('/v2/engines/:id/install', async ({ params }, reply) => {
    const engine = shown(await admin.install(admin.idOf(params.id)));
    return reply.code(202).send({ ok: true, engine });
  });

  app.post<Params>('/v2/engines/:id/rollback', async ({ params }) => ({
    ok: true,
    engine: shown(await admin.rollback(admin.idOf(params.id))),
  }));

  app.put<Params & { Body: Static<typeof keyBody> }>(
    '/v2/engines/:id/apikey',
    { schema: { body: keyBody } },
    async ({ params, body, actor }) => {
      refusePlaceholder(body.value, 'value');
      const id = admin.idOf(params.id);
      const kept = await admin.putKey(id, new Secret(body.value));
      const after = { name: engineTraits[id].keyNames?.own, engine: id, stored_in: kept.stored_in };
      await record({ actor, what: 'secret_set', principal: null, before: null, after });
      return { ok: true, ...kept };
    },
  );

  app.delete<Params>('/v2/engines/:id/apikey', async ({ params, actor }) => {
    const id = admin.idOf(params.id);
    const removed = await admin.removeKey(id);
    const before = { name: engineTraits[id].keyNames?.own, engine: id };
    await record({ actor, what: 'secret_removed', principal: null, before, after: null });
    return { ok: true, ...removed };
  });

  app.post<Params & { Body: Static<typeof urlBody> }>(
    '/v2/engines/:id/base-url',
    { schema: { body: urlBody } },
    async ({ params, body }): Promise<BaseUrlSet> => {
      refusePlaceholder(body.url, 'url');
      const { engine, ...rest } = await admin.setBaseUrl(admin.idOf(params.id), body.url);
      return { ok: true, engine: shown(engine), ...rest };
    },
  );

  app.post<Params>('/v2/engines/:id/refresh', async ({ params }) => ({
    ok: true,
    engine: shown(await admin.refresh(admin.idOf(params.id))),
  }));

  app.post<Params>('/v2/engines/:id/test', async ({ params }) => {
    const id = admin.idOf(params.id);
    if (isTesting) throw new ServiceError('busy', 'An engine is already being tested. Try again in a moment.');
    isTesting = true;
    try {
      return await checkEngine(deps, await engines.open(id));
    } finally {
      isTesting = false;
    }
  });
}

/** Says what happens to turns while the default engine is not ready, and which engines could stand in for it. */
function notReady({ id, reason }: EngineView, all: readonly EngineView[], fallback: readonly string[]): string {
  const others = all.filter((engine) => engine.ready && engine.id !== id && engine.id !== 'offline').map((engine) => engine.id);
  const inPlace = fallback.filter((other) => other !== id);
  const meanwhile =
    inPlace.length > 0
      ? `Until it is, ${inPlace.join(', then ')} answer in its place (SVC_ENGINE_FALLBACK).`
      : `Until it is, turns fail${others.length > 0 ? `; set SVC_ENGINE_FALLBACK=${others.join(',')} in .env to let others answer meanwhile` : ''}.`;
  return `${id} is not ready: ${reason} ${meanwhile}`;
}

/** The reason may quote what the engine's program wrote, which may be anything. */
function withoutSecrets(view: EngineView, { redactor }: Pick<KnownSecrets, 'redactor'>): EngineView {
  try {
    return { ...view, reason: redactor().text(view.reason) };
  } catch {
    return { ...view, reason: '[withheld]' }; // without the list of secrets no such text leaves
  }
}
