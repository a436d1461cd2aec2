import type { Clock } from '@svc/service-kit/clock.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { openSse } from '@svc/service-kit/http/sse.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { Logins } from '../login/logins.ts';
import type { Backends } from '../proxy/backends.ts';
import { watchLogin } from '../proxy/watch-login.ts';
import { mergeFeeds } from './merge-feeds.ts';

/** Each browser has one for all its tabs. */
const maxReaders = 128;

type Deps = {
  backends: Backends;
  logins: Logins;
  clock: Clock;
  log: Pick<Log, 'debug'>;
  knownSecrets: { mask: OutboundMask };
  stopping: AbortController;
};

/** `GET /live`: notifies the pages of events of core and collector, as one stream of server-sent events (`LiveFrames`). */
export function mountLiveRoutes(app: App, deps: Deps): void {
  const { logins, clock, stopping, knownSecrets } = deps;
  let readers = 0;
  app.get('/live', { schema: { description: 'Live events for the pages' } }, async ({ headers }, reply) => {
    const { user } = await logins.require(headers);
    if (reply.raw.destroyed) return; // the client has left meanwhile
    if (readers >= maxReaders)
      throw unavailable(`Too many browsers are connected (${readers}). Close one, or try again in a moment.`);
    readers += 1;
    // The connection ends with the stream.
    reply.raw.setHeader('connection', 'close');
    const watch = watchLogin({ logins, clock, headers, stopping: stopping.signal });
    const stream = openSse(reply, clock);
    const last = headers['last-event-id'];
    const signal = AbortSignal.any([stream.signal, watch.signal]);
    const lastId = typeof last === 'string' && last !== '' ? last : null;
    void mergeFeeds({ ...deps, mask: knownSecrets.mask }, { stream, user, lastId, signal }).finally(() => {
      readers -= 1;
      watch.end();
      reply.raw.destroy();
    });
  });
}
