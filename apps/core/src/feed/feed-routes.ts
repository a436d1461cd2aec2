import type { Clock } from '@svc/service-kit/clock.ts';
import type { Feed } from '@svc/service-kit/feed/create-feed.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { openSse } from '@svc/service-kit/http/sse.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { FedEvent } from './event-feed.ts';
import type { OpenFeeds } from './open-feeds.ts';

type Deps = { eventFeed: Feed<FedEvent>; feeds: OpenFeeds; clock: Clock; log: Log };

/**
 * `GET /events/stream`: live telemetry, one SSE event type per kind (spec: Feeds). A reader that returns with `Last-Event-ID` continues
 * from there.
 */
export function mountFeedRoutes(app: App, deps: Deps): void {
  app.get('/events/stream', (request, reply) => {
    // The end of the connection marks the end of the stream, which avoids chunked encoding.
    reply.raw.setHeader('connection', 'close');
    const stream = openSse(reply, deps.clock);
    stream.signal.addEventListener('abort', deps.feeds.add(stream));
    deps.eventFeed.follow(stream, lastEventId(request.headers['last-event-id'])).catch((error: unknown) => {
      deps.log.error({ err: error }, 'an event stream failed');
      stream.close();
    });
  });
}

const lastEventId = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' && header !== '' ? header : null;
