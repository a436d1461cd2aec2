import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Hub } from '@svc/service-kit/hub.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { concernsSession } from '../session/session-facts.ts';
import type { FeedItem } from './feed-item.ts';

/** How long changes of sessions are collected, and how many one item names. */
const gatherMs = 250;
const maxNamed = 1000;

/** Publishes stored events to the hub. Costs nothing while there are no listeners. */
export function createFeedSource(hub: Hub<FeedItem>, clock: Clock) {
  const changed = new Set<string>();
  let cancel = () => {};

  const publishChanged = () => {
    const all = [...changed];
    changed.clear();
    for (let i = 0; i < all.length; i += maxNamed)
      hub.publish({ name: 'sessions-changed', data: { sessions: all.slice(i, i + maxNamed) } });
  };
  const note = (key: string) => {
    if (changed.size === 0) cancel = clock.after(gatherMs, publishChanged);
    changed.add(key);
  };
  return {
    stored(events: readonly StoredEvent[]): void {
      if (hub.size === 0) return;
      for (const event of events) {
        hub.publish({ name: 'event', data: toEvent(event) });
        if (event.session !== null && concernsSession(event)) note(event.session);
      }
    },
    /** Reports a change of these sessions that is in no event. */
    changed(keys: readonly string[]): void {
      if (hub.size > 0) for (const key of keys) note(key);
    },
    close: () => cancel(),
  };
}

const toEvent = ({ payloadText: _text, usage: _usage, claimed_at, ...event }: StoredEvent): TelemetryEvent => ({
  ...event,
  ts: claimed_at ?? event.ts,
});
