import type { App } from '@svc/service-kit/http/create-app.ts';
import type { CollectorContext } from '../context.ts';

type Deps = Pick<CollectorContext, 'readAuth' | 'commitQueue' | 'hub' | 'sampler' | 'db' | 'sessionList' | 'clock'>;

/** `GET /metrics` for Prometheus. Its library is loaded with the first request. */
export function mountMetricsRoutes(app: App, context: Deps): void {
  let text: Promise<() => Promise<{ type: string; body: string }>> | null = null;
  const schema = { description: 'Metrics in the text format of Prometheus' };
  app.get('/metrics', { onRequest: context.readAuth, schema }, async (_request, reply) => {
    text ??= import('./write-metrics.ts').then(({ createMetrics }) => createMetrics(context));
    const { type, body } = await (await text)();
    return reply.type(type).send(body);
  });
}
