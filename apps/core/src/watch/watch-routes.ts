import type { FastifyReply } from 'fastify';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { openSse } from '@svc/service-kit/http/sse.ts';
import { notFound } from '@svc/service-kit/service-error.ts';
import type { OpenFeeds } from '../feed/open-feeds.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import type { SessionWatches } from './session-watches.ts';

type Deps = {
  pipeline: Pick<Pipeline, 'watch' | 'isBusy'>;
  watches: Pick<SessionWatches, 'checkRoom'>;
  sessions: Pick<SessionStore, 'read'>;
  feeds: OpenFeeds;
  clock: Clock;
};

/** A watcher that accepts nothing for this long is disconnected. */
const patienceMs = 30_000;

/** `GET /v2/session/:key/stream`: streams a conversation of any channel; with `Last-Event-ID`, from that frame on. */
export function mountWatchRoutes(app: App, { pipeline, watches, sessions, feeds, clock }: Deps): void {
  app.get<{ Params: { key: string } }>('/v2/session/:key/stream', async ({ params: { key }, headers }, reply) => {
    if (!pipeline.isBusy(key) && (await sessions.read(key)) === undefined) throw notFound('session', key);
    watches.checkRoom();
    // The end of the connection marks the end of the stream, which avoids chunked encoding.
    reply.raw.setHeader('connection', 'close');
    watchOver(pipeline, key, { reply, feeds, clock }, placeOf(headers['last-event-id']));
  });
}

function watchOver(
  pipeline: Deps['pipeline'],
  key: string,
  { reply, feeds, clock }: { reply: FastifyReply } & Pick<Deps, 'feeds' | 'clock'>,
  after: number | null,
): void {
  const { raw } = reply;
  const stream = openSse(reply, clock);
  const leave = pipeline.watch(
    key,
    {
      send: (parcel) => stream.sendShared(parcel.sse()),
      room: () => (raw.writableNeedDrain || raw.destroyed ? stream.drained(patienceMs) : null),
      failed: () => stream.close(),
    },
    after,
  );
  const closeFeed = feeds.add(stream);
  stream.signal.addEventListener('abort', () => {
    leave();
    closeFeed();
  });
}

/** An invalid value becomes a place that does not exist, so the watcher is told that frames are missing. */
const placeOf = (header: string | string[] | undefined): number | null =>
  header === undefined || header === '' ? null : /^\d{1,16}$/.test(String(header)) ? Number(header) : Number.NaN;
