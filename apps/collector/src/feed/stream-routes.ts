import type { App } from '@svc/service-kit/http/create-app.ts';
import { openSse, sseFrame, type SseStream } from '@svc/service-kit/http/sse.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { CollectorContext } from '../context.ts';

const maxReaders = 2000;

type Deps = Pick<CollectorContext, 'hub' | 'readAuth' | 'clock' | 'knownSecrets'>;

/**
 * `GET /api/stream`: the items of the live feed as server-sent events, for clients without Socket.IO. Items published together
 * are one buffer, which each reader gets in one write.
 */
export function mountStreamRoutes(app: App, { hub, readAuth, clock, knownSecrets: { mask } }: Deps): void {
  const readers = new Set<SseStream>();
  let unsubscribe: (() => void) | null = null;
  let waiting = '';
  const flush = () => {
    const frames = Buffer.from(waiting);
    waiting = '';
    for (const reader of readers) reader.sendShared(frames);
  };
  const listen = () =>
    hub.subscribe(({ name, data }) => {
      if (waiting === '') queueMicrotask(flush);
      waiting += sseFrame(name, mask.json(data));
    });

  app.get(
    '/api/stream',
    { onRequest: readAuth, schema: { description: 'The live feed as server-sent events' } },
    (_request, reply) => {
      if (readers.size >= maxReaders) throw unavailable('Too many clients are reading the live feed. Try again later.');
      // The end of the connection ends the response, so no chunked encoding is needed.
      reply.raw.setHeader('connection', 'close');
      const stream = openSse(reply, clock);
      readers.add(stream);
      unsubscribe ??= listen();
      stream.send(': connected\n\n');
      stream.signal.addEventListener('abort', () => {
        readers.delete(stream);
        if (readers.size > 0) return;
        unsubscribe?.();
        unsubscribe = null;
      });
    },
  );
  app.addHook('preClose', async () => {
    for (const reader of readers) reader.close();
  });
}
