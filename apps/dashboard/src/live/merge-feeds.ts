import type { EventSourceMessage } from 'eventsource-parser';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { LiveFrames } from '@svc/contract/live.ts';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { sseFrame, type SseStream } from '@svc/service-kit/http/sse.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Backends } from '../proxy/backends.ts';
import { followFeed } from './follow-feed.ts';

type Deps = { backends: Backends; clock: Clock; log: Pick<Log, 'debug'>; mask: OutboundMask };
type Reader = { stream: Pick<SseStream, 'send'>; user: string; lastId: string | null; signal: AbortSignal };

const again = { firstMs: 1000, maxMs: 30_000, jitter: [0.5, 1] } as const;
/** Events of the collector that are passed on unchanged. */
const passedOn = new Set<string>(['sessions-changed', 'control', 'system-sample']);

/**
 * Sends a reader the events of core and collector as one stream, until `signal` or the core ends it: without the core, the page would show old data as
 * live. The collector may disconnect; the reader is then told that its events are missing.
 */
export async function mergeFeeds({ backends, clock, log, mask }: Deps, reader: Reader): Promise<void> {
  const { stream, user, lastId } = reader;
  const over = new AbortController();
  const signal = AbortSignal.any([reader.signal, over.signal]);
  const known = createKnownIds();
  const send = <Name extends keyof LiveFrames>(name: Name, data: LiveFrames[Name], id?: string) =>
    stream.send(sseFrame(name, mask.json(data), id));
  const feed = (source: 'core' | 'collector', path: string, more: Record<string, string> = {}) => ({
    url: backends.urls[source] + path,
    headers: { ...backends.headersFor(source, user, path), ...more },
    signal,
    clock,
  });

  const ofCore = ({ event, id }: EventSourceMessage) => {
    if (event === 'gap') return send('gap', { of: 'core' });
    if (event === undefined || id === undefined) return;
    known.add(id);
    send('event', { kind: event }, id);
  };
  /** The collector also stores the events of the core, which arrived directly before. */
  const ofCollector = ({ event = '', data }: EventSourceMessage) => {
    if (passedOn.has(event)) return stream.send(sseFrame(event, mask.jsonText(data)));
    if (event !== 'event') return;
    const { id, kind } = JSON.parse(data) as TelemetryEvent;
    if (!known.has(id)) send('event', { kind });
  };

  async function followCore(): Promise<void> {
    const from: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId };
    // A reader that reconnects before the first event needs an id, too: one that the core does not know, so that the core reports a gap.
    const onOpen = () => send('ready', {}, lastId === null ? randomIds.next('ready') : undefined);
    await followFeed({ ...feed('core', '/events/stream', from), onOpen, onEvent: ofCore });
  }

  async function followCollector(): Promise<void> {
    let failures = 0;
    let mayMiss = lastId !== null;
    const onOpen = () => {
      failures = 0;
      if (mayMiss) send('gap', { of: 'collector' });
      mayMiss = true;
    };
    while (!signal.aborted) {
      await followFeed({ ...feed('collector', '/api/stream'), onOpen, onEvent: ofCollector }).catch((error: unknown) =>
        log.debug({ error: errorText(error) }, 'the feed of the collector broke off'),
      );
      if (signal.aborted) return;
      failures += 1;
      if (failures === 1) send('away', { of: 'collector' });
      mayMiss = true;
      await sleep(backOffMs(again, failures), undefined, { signal, ref: false }).catch(() => undefined); // the stream has ended
    }
  }

  const collector = followCollector();
  await followCore()
    .catch((error: unknown) => log.debug({ error: errorText(error) }, 'the feed of the core broke off'))
    .finally(() => over.abort());
  await collector;
}

const maxKnown = 4096;

/** Remembers the newest ids. */
function createKnownIds() {
  const ids = new Set<string>();
  return {
    has: (id: string) => ids.has(id),
    add(id: string): void {
      ids.add(id);
      forgetOldest(ids, maxKnown);
    },
  };
}
