import type { App } from '@svc/service-kit/http/create-app.ts';
import { openSse, sseFrame } from '@svc/service-kit/http/sse.ts';
import type { CoreContext } from '../context.ts';

/** `GET /events/stream`: telemetry as it happens, one SSE event per kind (spec: Feeds). */
export function mountFeedRoutes(app: App, { telemetry, feeds, clock }: Pick<CoreContext, 'telemetry' | 'feeds' | 'clock'>): void {
  app.get('/events/stream', (_request, reply) => {
    const stream = openSse(reply, clock);
    const unsubscribe = telemetry.subscribe((event) => stream.send(sseFrame(event.kind, event, event.id)));
    const forget = feeds.add(stream);
    stream.signal.addEventListener('abort', () => {
      unsubscribe();
      forget();
    });
  });
}
