import { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { channelLimits, openChildChannel } from './child-channel.ts';

const { budget, messageCost, perMs, hurriedWindows, unreadBytes } = channelLimits;

function setUp() {
  const written: string[] = [];
  const reported: string[] = [];
  const heard: unknown[] = [];
  let isRead = true;
  const pipe = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      written.push(String(chunk));
      if (isRead) done();
    },
  });
  const channel = openChildChannel(pipe, {
    onMessage: (message) => heard.push(message),
    onFault: (why) => reported.push(why),
    onHurry: () => reported.push('hurry'),
  });
  const say = async (text: string) => {
    pipe.push(text);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { channel, pipe, written, reported, heard, say, stopReading: () => (isRead = false) };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const words = (count: number) => '{}\n'.repeat(count);

describe('child channel', () => {
  test('reads and writes one JSON message per line, however it is cut', async () => {
    const { channel, written, heard, say } = setUp();
    await say('{"a":1}\n{"b"');
    await say(':"é"}\n\n');
    expect(heard).toEqual([{ a: 1 }, { b: 'é' }]);
    expect(channel.send({ c: 3 })).toBe(true);
    expect(written).toEqual(['{"c":3}\n']);
  });

  test('stops reading after a message that is not JSON', async () => {
    const { channel, reported, heard, say } = setUp();
    await say('{"a":1}\noops\n{"b":2}\n');
    expect(heard).toEqual([{ a: 1 }]);
    expect(reported).toEqual(['its message to its parent is not JSON']);
    expect(channel.send({})).toBe(false);
  });

  test('rejects a message over the size limit', async () => {
    const { reported, say } = setUp();
    await say('"'.padEnd(channelLimits.lineChars + 1, 'x'));
    expect(reported).toEqual([`its message to its parent is longer than ${channelLimits.lineChars} characters`]);
  });

  test('pauses a child that sends too much in proportion to the excess', async () => {
    const { pipe, say } = setUp();
    const count = Math.ceil((3 * budget) / (messageCost + 3));
    await say(words(count));
    expect(pipe.isPaused()).toBe(true);
    await vi.advanceTimersByTimeAsync(2 * perMs);
    expect(pipe.isPaused()).toBe(true);
    await vi.advanceTimersByTimeAsync(perMs);
    expect(pipe.isPaused()).toBe(false);
    await vi.advanceTimersByTimeAsync(perMs);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('reports a child that has to be paused repeatedly', async () => {
    const { reported, say } = setUp();
    for (let window = 0; window < hurriedWindows; window++) {
      expect(reported).toEqual([]);
      await say(words(Math.ceil(budget / messageCost) + 1));
      await vi.advanceTimersByTimeAsync(perMs);
    }
    expect(reported).toEqual(['hurry']);
  });

  test('drops messages to a child that does not read, over a limit', () => {
    const { channel, stopReading } = setUp();
    stopReading();
    const text = 'x'.repeat(unreadBytes / 2);
    const taken = [1, 2, 3, 4].map(() => channel.send({ text }));
    expect(taken).toEqual([true, true, false, false]);
  });

  test('leaves no timer behind', async () => {
    const { channel, pipe, say } = setUp();
    await say(words(2));
    channel.close();
    pipe.destroy();
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
