import { expect, test } from 'vitest';
import type { SseStream } from '@svc/service-kit/http/sse.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createMemoryTelemetry } from '@svc/testing/memory-telemetry.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createEventRing } from './event-ring.ts';
import { followEvents } from './follow-events.ts';
import { createLiveReaders } from './live-readers.ts';

/** A reader that makes room when the test says so. */
function open() {
  const telemetry = createMemoryTelemetry();
  const eventRing = createEventRing(noMask, { events: 4, chars: 1_000_000 });
  telemetry.subscribe(eventRing.push);
  const sent: string[] = [];
  let listeners = 0;
  const gone = new AbortController();
  let room = Promise.withResolvers<boolean>();
  const stream: SseStream = {
    send: (frames) =>
      sent.push(
        ...[...frames.matchAll(/^event: (\w+)$|"text":"(\w+)"/gm)]
          .map(([, kind, text]) => text ?? kind ?? '')
          .filter((word) => word !== 'turn'),
      ),
    sendShared: (frames) => stream.send(frames.toString()),
    drained: () => room.promise,
    close: () => undefined,
    signal: gone.signal,
  };
  const deps = {
    eventRing,
    liveReaders: createLiveReaders(
      {
        subscribe: (listener) => {
          listeners++;
          const stop = telemetry.subscribe(listener);
          return () => {
            listeners--;
            stop();
          };
        },
      },
      createFakeClock(),
    ),
  };
  return {
    sent,
    gone,
    listeners: () => listeners,
    emit: (...texts: string[]) => texts.map((text) => telemetry.emit({ kind: 'turn', text }).id),
    follow: (lastId: string | null) => followEvents(deps, stream, lastId),
    makeRoom(hasRoom: boolean) {
      room.resolve(hasRoom);
      room = Promise.withResolvers<boolean>();
    },
  };
}
const long = (letter: string) => letter.repeat(100_000);

test('a reader gets the next piece when there is room for it', async () => {
  const { emit, follow, makeRoom, sent, listeners } = open();
  const [first] = emit('seen', long('a'), long('b'), long('c'));
  const following = follow(first ?? '');
  expect(sent).toEqual([long('a'), long('b')]);
  makeRoom(true);
  await Promise.resolve();
  await Promise.resolve();
  expect(sent).toEqual([long('a'), long('b'), long('c')]);
  expect(listeners()).toBe(0);
  makeRoom(true);
  await following;
  expect(listeners()).toBe(1);
});

test('a reader that is too slow for what happens meanwhile gets a gap event', async () => {
  const { emit, follow, makeRoom, sent } = open();
  const [first] = emit('seen', long('a'), long('b'), 'c');
  const following = follow(first ?? '');
  emit('d', 'e', 'f', 'g');
  makeRoom(true);
  await Promise.resolve();
  await Promise.resolve();
  makeRoom(true);
  await following;
  expect(sent).toEqual([long('a'), long('b'), 'gap', 'd', 'e', 'f', 'g']);
});

test('a reader that is gone is not sent to any more', async () => {
  const { emit, follow, makeRoom, sent, listeners } = open();
  const [first] = emit('seen', 'a');
  const following = follow(first ?? '');
  makeRoom(false);
  await following;
  emit('b');
  expect(sent).toEqual(['a']);
  expect(listeners()).toBe(0);
});

test('a reader that goes is forgotten, also when it goes before it is heard', async () => {
  const { emit, follow, gone, listeners } = open();
  await follow(null);
  expect(listeners()).toBe(1);
  gone.abort();
  expect(listeners()).toBe(0);
  emit('a');
  await follow(null);
  expect(listeners()).toBe(0);
});
