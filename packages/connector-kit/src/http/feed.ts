import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { createFeed as createItemFeed } from '@svc/service-kit/feed/create-feed.ts';
import { openSseStream, type SseStream } from '@svc/service-kit/http/sse-stream.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';
import type { Exchange } from './exchange.ts';

export type FeedOptions = {
  /** Limits of the events kept for readers that reconnect: their number, and their characters in total. */
  ring: { items: number; chars: number };
  /** Maximum number of readers, 200 by default; more are refused with 429. */
  maxReaders?: number;
  clock?: Clock;
};

/**
 * Server-sent events for all readers. Each event is serialized once, has an id, and is sent again to readers that were briefly
 * disconnected.
 */
export type ConnectorFeed = {
  /** Writes `data` as JSON, and returns the event's id. */
  publish(event: string, data: unknown): string;
  /**
   * Answers a request with the stream, starting after the event that `Last-Event-ID` names. A reader that missed events receives `gap`
   * first, and must query the current state itself. A quiet stream gets a comment every 15 s. A reader that leaves 1 MiB unread is cut off;
   * all streams end when the server stops.
   */
  serve(exchange: Exchange): Promise<void>;
  readonly readers: number;
  close(): void;
};

type Item = { id: string; frame: string };

export function createFeed({ ring, maxReaders = 200, clock = systemClock }: FeedOptions): ConnectorFeed {
  const open = new Set<SseStream>();
  // Marks the ids of this process: ids of an earlier process are recognized as no longer kept.
  const origin = randomIds.next('feed');
  let count = 0;
  const feed = createItemFeed<Item>({
    ring,
    clock,
    lengthOf: ({ frame }) => frame.length,
    frameOf: ({ frame }) => frame,
    gapOf: () => 'event: gap\ndata: {}\n\n',
  });

  return {
    publish(event, data) {
      if (!/^[\w-]+$/.test(event)) throw new TypeError('An event name may have only letters, digits, _ and -.');
      const id = `${origin}-${++count}`;
      feed.publish({ id, frame: `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data ?? null)}\n\n` });
      return id;
    },

    async serve({ req, res, requestId, stopping }) {
      if (open.size >= maxReaders)
        throw queueFull(`${maxReaders} readers are already connected, which is the maximum. Try again later.`);
      res.setHeader('connection', 'close');
      if (req.method === 'HEAD') return void res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).end();
      const stream = openSseStream(res, { requestId, clock });
      open.add(stream);
      const end = () => stream.close();
      stopping.addEventListener('abort', end);
      stream.signal.addEventListener('abort', () => {
        open.delete(stream);
        stopping.removeEventListener('abort', end);
      });
      const lastId = req.headers['last-event-id'];
      await feed.follow(stream, typeof lastId === 'string' && lastId !== '' ? lastId : null);
    },

    get readers() {
      return open.size;
    },

    close() {
      for (const stream of open) stream.close();
    },
  };
}
