import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { SseStream } from '../http/sse-stream.ts';
import { createFeed } from './create-feed.ts';

/** A reader that has room when the test says so. */
function open() {
  const sent: string[] = [];
  const gone = new AbortController();
  let room = Promise.withResolvers<boolean>();
  const stream: SseStream = {
    send: (frames) => sent.push(...frames.split(' ').filter((frame) => frame !== '')),
    sendShared: (frames) => stream.send(frames.toString()),
    drained: () => room.promise,
    close: () => undefined,
    signal: gone.signal,
  };
  let last = 0;
  const feed = createFeed<{ id: string; text: string }>({
    ring: { items: 4, chars: 1_000_000 },
    lengthOf: ({ text }) => text.length,
    frameOf: ({ text }) => `${text} `,
    gapOf: (id) => `gap-after-${id?.length === 1 ? id : 'unknown'} `,
    clock: createFakeClock(),
  });
  return {
    sent,
    gone,
    emit: (...texts: string[]) =>
      texts.map((text) => {
        const id = String(++last);
        feed.publish({ id, text });
        return id;
      }),
    follow: (lastId: string | null) => feed.follow(stream, lastId),
    makeRoom(hasRoom: boolean) {
      room.resolve(hasRoom);
      room = Promise.withResolvers<boolean>();
    },
  };
}
const long = (letter: string) => letter.repeat(100_000);

test('sends the next chunk to a reader when it has room', async () => {
  const { emit, follow, makeRoom, sent } = open();
  const [first] = emit('seen', long('a'), long('b'), long('c'));
  const following = follow(first ?? '');
  expect(sent).toEqual([long('a'), long('b')]);
  makeRoom(true);
  await Promise.resolve();
  await Promise.resolve();
  expect(sent).toEqual([long('a'), long('b'), long('c')]);
  makeRoom(true);
  await following;
});

test('sends a gap event to a reader that is too slow', async () => {
  const { emit, follow, makeRoom, sent } = open();
  const [first] = emit('seen', long('a'), long('b'), 'c');
  const following = follow(first ?? '');
  emit('d', 'e', 'f', 'g');
  makeRoom(true);
  await Promise.resolve();
  await Promise.resolve();
  makeRoom(true);
  await following;
  expect(sent).toEqual([long('a'), long('b'), 'gap-after-3', 'd', 'e', 'f', 'g']);
});

test('sends nothing to a reader that is gone', async () => {
  const { emit, follow, makeRoom, sent } = open();
  const [first] = emit('seen', 'a');
  const following = follow(first ?? '');
  makeRoom(false);
  await following;
  emit('b');
  expect(sent).toEqual(['a']);
});

test('forgets a reader that disconnects, even before it is added', async () => {
  const { emit, follow, gone, sent } = open();
  await follow(null);
  gone.abort();
  emit('a');
  await follow(null);
  emit('b');
  expect(sent).toEqual([]);
});
