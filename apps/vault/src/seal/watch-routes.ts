import type { VaultState } from '@svc/contract/vault.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { openSse, sseFrame, type SseStream } from '@svc/service-kit/http/sse.ts';
import type { Hub } from '@svc/service-kit/hub.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { Lifecycle } from '../keyring/lifecycle.ts';

/** Two are processes of the service; the rest is for the operator's own clients. */
const maxWatchers = 32;

type Deps = { lifecycle: Lifecycle; stateChanges: Hub<VaultState>; clock: Clock; mask: OutboundMask };

/** `GET /v1/watch`: the state of the vault, at once and whenever it changes, as server-sent events. As public as `/v1/status`. */
export function mountWatchRoutes(app: App, { lifecycle, stateChanges, clock, mask }: Deps): void {
  const watchers = new Set<SseStream>();
  const frame = (state: VaultState) => sseFrame('state', mask.json(state));

  app.get('/v1/watch', { schema: { description: 'The state as server-sent events' } }, async (_request, reply) => {
    if (watchers.size >= maxWatchers) throw unavailable('Too many clients are watching the vault. Try again later.');
    const stream = openSse(reply, clock);
    watchers.add(stream);
    // Subscribed before the state is read: a change in between may be sent twice, but is never lost.
    const unsubscribe = stateChanges.subscribe((state) => stream.send(frame(state)));
    stream.signal.addEventListener('abort', () => {
      unsubscribe();
      watchers.delete(stream);
    });
    stream.send(frame(await lifecycle.state()));
    return reply;
  });
  app.addHook('preClose', async () => {
    for (const watcher of watchers) watcher.close();
  });
}
