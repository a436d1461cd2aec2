import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFeedPump, type FeedReader } from './feed-pump.ts';

const fail = (error: unknown) => {
  throw error;
};

function createReader() {
  const reader = {
    isTaking: true,
    isDropped: false,
    text: [] as string[],
    frames: [] as Buffer[],
    isReady: () => reader.isTaking,
    write: ({ text, frames }: Parameters<FeedReader['write']>[0]) => {
      reader.text.push(text);
      reader.frames.push(frames);
    },
    drop: () => void (reader.isDropped = true),
  };
  return reader;
}
const settle = async () => {
  for (let n = 0; n < 20; n++) await nextTurn();
};

/** The texts of WebSocket frames. */
function textsOf(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length;) {
    expect(bytes[at]).toBe(0x81);
    const short = bytes[at + 1] ?? 0;
    const [head, length] =
      short < 126 ? [2, short] : short === 126 ? [4, bytes.readUInt16BE(at + 2)] : [10, Number(bytes.readBigUInt64BE(at + 2))];
    texts.push(bytes.toString('utf8', at + head, at + head + length));
    at += head + length;
  }
  return texts;
}

test('every reader gets all items since it joined, in order and in both formats, in random schedules', async () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('publish' as const),
      text: fc.string({ unit: 'grapheme' }),
      times: fc.constantFrom(1, 100, 40_000),
    }),
    fc.record({ kind: fc.constantFrom('join' as const, 'pause' as const, 'resume' as const, 'turn' as const), of: fc.nat(5) }),
  );
  const rule = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const pump = createFeedPump(fail);
    const readers: { reader: ReturnType<typeof createReader>; want: string[] }[] = [];
    for (const each of steps) {
      if (each.kind === 'publish') {
        const item = JSON.stringify(each.text.repeat(each.times));
        pump.publish(item);
        for (const { want } of readers) want.push(`4${item}`);
      } else if (each.kind === 'join') {
        const reader = createReader();
        readers.push({ reader, want: [] });
        pump.add(reader);
      } else if (each.kind === 'turn') await nextTurn();
      else {
        const one = readers[each.of]?.reader;
        if (one !== undefined) one.isTaking = each.kind === 'resume';
        pump.resume();
      }
    }
    for (const { reader } of readers) reader.isTaking = true;
    pump.resume();
    await expect.poll(() => pump.kept).toBe(0);
    for (const { reader, want } of readers.filter((each) => !each.reader.isDropped)) {
      expect(reader.frames.flatMap(textsOf)).toEqual(want);
      expect(reader.text.flatMap((text) => `4${text}`.split('\u001E'))).toEqual(want);
    }
  });
  await fc.assert(rule, { numRuns: 60 });
});

test('items waiting for a thousand blocked readers are held once, and these readers are dropped at the limit', async () => {
  const pump = createFeedPump(fail, { waitingBytes: 1000, keptBytes: 1e6 });
  const readers = Array.from({ length: 1000 }, createReader);
  const good = createReader();
  for (const reader of [...readers, good]) pump.add(reader);
  for (const reader of readers) reader.isTaking = false;
  for (let n = 0; n < 10; n++) pump.publish('x'.repeat(100));
  await settle();
  expect(pump.kept).toBe(1000);
  expect(readers.some(({ isDropped }) => isDropped)).toBe(false);
  pump.publish('y');
  await expect.poll(() => pump.size).toBe(1);
  expect(readers.every(({ isDropped }) => isDropped)).toBe(true);
  expect([pump.kept, good.text.join('').replaceAll('\u001E4', '').length]).toEqual([0, 1001]);
});

test('a slow reader is dropped when too much waits for it', async () => {
  const pump = createFeedPump(fail, { waitingBytes: 1e9, keptBytes: 1000 });
  const slow = createReader();
  slow.isTaking = false;
  pump.add(slow);
  for (let n = 0; n < 11; n++) pump.publish('x'.repeat(100));
  await settle();
  expect([slow.isDropped, pump.kept, pump.size]).toEqual([true, 0, 0]);
});

test('a fast reader stays when a slow one is dropped', async () => {
  const pump = createFeedPump(fail, { waitingBytes: 1e9, keptBytes: 1000 });
  const fast = createReader();
  const slow = createReader();
  slow.isTaking = false;
  for (const reader of [fast, slow]) pump.add(reader);
  for (let n = 0; n < 11; n++) {
    pump.publish('x'.repeat(100));
    await settle();
  }
  expect([slow.isDropped, fast.isDropped, pump.kept]).toEqual([true, false, 0]);
  expect(fast.text).toHaveLength(11);
});

test('removing a blocked reader releases the items that waited for it', async () => {
  const pump = createFeedPump(fail);
  const reader = createReader();
  reader.isTaking = false;
  pump.add(reader);
  pump.publish('x');
  await settle();
  pump.remove(reader);
  expect(pump.kept).toBe(0);
});

test('readers can be removed while others are being written to', async () => {
  const pump = createFeedPump(fail);
  const readers = Array.from({ length: 200 }, createReader);
  for (const reader of readers) pump.add(reader);
  pump.publish('x');
  await nextTurn();
  await nextTurn();
  for (const reader of readers) pump.remove(reader);
  await settle();
  expect(readers.filter(({ text }) => text.length > 0).length).toBeLessThan(200);
  expect(pump.kept).toBe(0);
});
