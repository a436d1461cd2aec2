import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { createFeed as createItemFeed } from '@svc/service-kit/feed/create-feed.ts';
import { openSseStream, type SseStream } from '@svc/service-kit/http/sse-stream.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';
import type { Exchange } from './exchange.ts';

export type FeedOptions = {
  /** What is held for readers that come back: so many events, and so many characters of them. */
  ring: { items: number; chars: number };
  /** Readers at once, 200 unless given; more are refused (429). */
  maxReaders?: number;
  clock?: Clock;
};

/** Server-sent events for everyone who reads: each is serialised once, has an id, and is given again to who was away for a moment. */
export type ConnectorFeed = {
  /** `data` is written as JSON. Gives the event's id. */
  publish(event: string, data: unknown): string;
  /**
   * Answers a request with the stream, from the event on that `Last-Event-ID` names. One that missed events gets `gap` first, and has
   * to look for itself what is true now. A quiet stream has a comment every 15 s. A reader that leaves 1 MiB unread is cut off; all
   * end when the server stops.
   */
  serve(exchange: Exchange): Promise<void>;
  readonly readers: number;
  close(): void;
};

type Item = { id: string; frame: string };

export function createFeed({ ring, maxReaders = 200, clock = systemClock }: FeedOptions): ConnectorFeed {
  const open = new Set<SseStream>();
  // Ids of an earlier process are known for what they are: not held.
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
