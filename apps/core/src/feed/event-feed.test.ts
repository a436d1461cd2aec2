import { expect, test } from 'vitest';
import type { SseStream } from '@svc/service-kit/http/sse.ts';
import { createOutboundMask, type MaskedJson } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createEventFeed } from './event-feed.ts';

function read() {
  const sent: string[] = [];
  const reader: SseStream = {
    send: (frames) => sent.push(frames),
    sendShared: (frames) => sent.push(frames.toString()),
    drained: () => Promise.resolve(true),
    close: () => undefined,
    signal: new AbortController().signal,
  };
  return { reader, sent };
}

test('an event is sent as a frame with id, kind and data', async () => {
  const feed = createEventFeed(
    createOutboundMask((text) => text),
    createFakeClock(),
  );
  const { reader, sent } = read();
  await feed.follow(reader, null);
  feed.publish({ id: 'e1', kind: 'turn', line: '{}' as MaskedJson });
  await Promise.resolve();
  expect(sent).toEqual(['id: e1\nevent: turn\ndata: {}\n\n']);
});

test('a secret learned after an event was stored is masked when the event is replayed', async () => {
  let secret = 'nothing';
  const feed = createEventFeed(
    createOutboundMask((text) => text.replaceAll(secret, 'MASK')),
    createFakeClock(),
  );
  feed.publish({ id: 'e0', kind: 'turn', line: '{}' as MaskedJson });
  feed.publish({ id: 'e1', kind: 'turn', line: '{"text":"said before it was known"}' as MaskedJson });
  secret = 'before it was';
  const { reader, sent } = read();
  await feed.follow(reader, 'e0');
  expect(sent.join('')).toContain('{"text":"said MASK known"}');
});

test('a reader with an invalid last id gets a gap without a start time', async () => {
  const feed = createEventFeed(
    createOutboundMask((text) => text),
    createFakeClock(),
  );
  const { reader, sent } = read();
  await feed.follow(reader, 'x'.repeat(200));
  expect(sent[0]).toContain('"since":null');
  expect(sent[0]).not.toContain('xxx');
});
