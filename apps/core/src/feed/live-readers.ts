import type { Clock } from '@svc/service-kit/clock.ts';
import type { SseStream } from '@svc/service-kit/http/sse.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import { eventFrame } from './event-ring.ts';

/** An event leaves at once, those that follow it within this time together: a thousand readers are a thousand writes. */
const gatherMs = 10;

/**
 * The readers that get every event as it happens. Events that leave together are one buffer which all of them share: a
 * reader that stopped reading holds a part in it until it is dropped, not a copy.
 */
export type LiveReaders = {
  /** From the next event on. What is waiting is for those who were here when it happened. */
  add(reader: SseStream): void;
};

export function createLiveReaders(telemetry: Pick<Telemetry, 'subscribe'>, clock: Clock): LiveReaders {
  const readers = new Set<SseStream>();
  let stopListening = () => {};
  let waiting = '';
  let sentAt = Number.NEGATIVE_INFINITY;
  let cancel = () => {};

  const flush = () => {
    cancel();
    if (waiting === '') return;
    const frames = Buffer.from(waiting);
    waiting = '';
    sentAt = clock.elapsed();
    for (const reader of readers) reader.sendShared(frames);
  };
  const flushSoon = () => {
    const pause = sentAt + gatherMs - clock.elapsed();
    if (pause > 0) cancel = clock.after(Math.min(pause, gatherMs), flush);
    else queueMicrotask(flush);
  };
  const listen = () =>
    telemetry.subscribe((event, line) => {
      if (waiting === '') flushSoon();
      waiting += eventFrame(event, line);
    });
  const leave = (reader: SseStream) => {
    readers.delete(reader);
    if (readers.size > 0) return;
    stopListening();
    cancel();
    waiting = '';
  };

  return {
    add(reader: SseStream): void {
      if (reader.signal.aborted) return;
      flush();
      if (readers.size === 0) stopListening = listen();
      readers.add(reader);
      reader.signal.addEventListener('abort', () => leave(reader));
    },
  };
}
