import type { Clock } from '@svc/service-kit/clock.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { openSse } from '@svc/service-kit/http/sse.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import type { EventRing } from './event-ring.ts';
import { followEvents } from './follow-events.ts';
import { createLiveReaders } from './live-readers.ts';
import type { OpenFeeds } from './open-feeds.ts';

type Deps = { telemetry: Telemetry; eventRing: EventRing; feeds: OpenFeeds; clock: Clock; log: Log };

/**
 * `GET /events/stream`: telemetry as it happens, one SSE event per kind (spec: Feeds). A reader that comes back with
 * `Last-Event-ID` goes on where it was.
 */
export function mountFeedRoutes(app: App, deps: Deps): void {
  const liveReaders = createLiveReaders(deps.telemetry, deps.clock);
  app.get('/events/stream', (request, reply) => {
    // Its end is the end of the connection, so nothing is cut into chunks with lengths of their own.
    reply.raw.setHeader('connection', 'close');
    const stream = openSse(reply, deps.clock);
    stream.signal.addEventListener('abort', deps.feeds.add(stream));
    followEvents({ liveReaders, eventRing: deps.eventRing }, stream, lastEventId(request.headers['last-event-id'])).catch(
      (error: unknown) => {
        deps.log.error({ err: error }, 'an event stream failed');
        stream.close();
      },
    );
  });
}

const lastEventId = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' && header !== '' ? header : null;
