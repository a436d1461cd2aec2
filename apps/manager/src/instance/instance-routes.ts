import type { App } from '@svc/service-kit/http/create-app.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { refusePlaceholder } from '@svc/service-kit/redaction/placeholder.ts';
import { createInstanceSchema, instanceParamsSchema, updateInstanceSchema } from './instance-schema.ts';
import type { Announcer } from '../outbound/announcer.ts';
import type { InstanceService } from './instance-service.ts';

type Deps = {
  instances: InstanceService;
  announcer: Pick<Announcer, 'listOf' | 'drop'>;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
};

const params = instanceParamsSchema;
const heldParams = {
  type: 'object',
  required: ['id', 'announcement'],
  properties: { id: { type: 'string' }, announcement: { type: 'string' } },
} as const;

export function mountInstanceRoutes(app: App, { instances, announcer, knownSecrets }: Deps): void {
  app.get('/instances', async () => ({ instances: await instances.list() }));
  app.get('/instances/:id', { schema: { params } }, async ({ params: { id } }) => {
    const detail = await instances.get(id);
    const held = await announcer.listOf(id);
    return { ...detail, announcements: held.length === 0 ? [] : knownSecrets.redactor().value(held) };
  });
  app.delete('/instances/:id/announcements/:announcement', { schema: { params: heldParams } }, async (request) => {
    const { id, announcement } = request.params;
    await instances.get(id);
    await announcer.drop(id, announcement);
    return { ok: true };
  });
  app.get('/instances/:id/logs', { schema: { params } }, async (request) => ({
    logs: (await instances.get(request.params.id)).logs,
  }));
  app.post('/instances', { schema: { body: createInstanceSchema } }, async (request, reply) => {
    refusePlaceholder(request.body, 'The instance');
    const instance = await instances.create(request.body);
    return reply.code(201).send({ ok: true, instance });
  });
  app.patch('/instances/:id', { schema: { params, body: updateInstanceSchema } }, async (request) => {
    refusePlaceholder(request.body, 'The change');
    return { ok: true, instance: await instances.update(request.params.id, request.body) };
  });
  app.delete('/instances/:id', { schema: { params } }, async (request) => {
    await instances.remove(request.params.id);
    return { ok: true };
  });
  for (const action of ['start', 'stop', 'restart'] as const) {
    app.post(`/instances/:id/${action}`, { schema: { params } }, async (request) => ({
      ok: true,
      instance: await instances[action](request.params.id),
    }));
  }
}
