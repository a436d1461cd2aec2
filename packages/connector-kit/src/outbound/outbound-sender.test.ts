import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { OutboundMessage } from '@svc/contract/send.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openChannelToggles } from './channel-toggles.ts';
import { createOutboundSender } from './outbound-sender.ts';
import { openSentIds } from './sent-ids.ts';

let folder: TemporaryFolder;
beforeEach(() => (folder = temporaryFolder()));
afterEach(() => folder.remove());

const log = () => undefined;
const message = (id: string, target = 't'): OutboundMessage => ({ id, target, kind: 'text', text: 'x' });
const file = () => path.join(folder.path, 'sent-ids');

/** A connector process: the next one shares only the file with it. */
function openSender(send: (message: OutboundMessage) => Promise<void> = async () => undefined) {
  const clock = createFakeClock();
  const sent: string[] = [];
  const sender = createOutboundSender({
    sent: openSentIds(file(), log),
    clock,
    send: async (each) => {
      sent.push(each.id);
      await send(each);
    },
  });
  return { sender: sender.send, drain: sender.drain, sent, clock };
}

describe('outbound sender', () => {
  test('sends a message once per id, also after a restart', async () => {
    const first = openSender();
    expect(await first.sender(message('a'))).toEqual({ repeated: false });
    expect(await first.sender(message('a'))).toEqual({ repeated: true });
    const second = openSender();
    expect(await second.sender(message('a'))).toEqual({ repeated: true });
    expect([first.sent, second.sent]).toEqual([['a'], []]);
  });

  test('joins an attempt that is under way', async () => {
    let go: () => void = () => undefined;
    const { sender, sent } = openSender(() => new Promise((resolve) => (go = resolve)));
    const both = [sender(message('a')), sender(message('a'))];
    go();
    expect(await Promise.all(both)).toEqual([{ repeated: false }, { repeated: true }]);
    expect(sent).toEqual(['a']);
  });

  test('allows another attempt after a failure', async () => {
    const failures = [new Error('no luck')];
    const { sender, sent } = openSender(async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    });
    await expect(sender(message('a'))).rejects.toThrow('no luck');
    expect(await sender(message('a'))).toEqual({ repeated: false });
    expect(sent).toEqual(['a', 'a']);
  });

  test('counts a send that throws at once as failed, without a late rejection', async () => {
    const clock = createFakeClock();
    const send = () => {
      throw new Error('no luck');
    };
    const sender = createOutboundSender({ sent: openSentIds(file(), log), clock, send });
    await expect(sender.send(message('a'))).rejects.toThrow('no luck');
    const late: unknown[] = [];
    const note = (error: unknown) => void late.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    clock.advance(11 * 60_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(late).toEqual([]);
  });

  test('times out after a minute, and counts the message as sent if the channel takes it later', async () => {
    let go: () => void = () => undefined;
    const { sender, clock } = openSender(() => new Promise((resolve) => (go = resolve)));
    const sending = sender(message('a'));
    clock.advance(60_000);
    await expect(sending).rejects.toThrow('within 60 s');
    go();
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(await sender(message('a'))).toEqual({ repeated: true });
  });

  test("keeps a timed-out message's place in line when its caller tries again", async () => {
    let go: () => void = () => undefined;
    const { sender, sent, clock } = openSender(() => new Promise((resolve) => (go = resolve)));
    const first = sender(message('a'));
    clock.advance(60_000);
    await expect(first).rejects.toThrow('within 60 s');
    const second = sender(message('a'));
    clock.advance(30_000);
    go();
    expect([await second, sent]).toEqual([{ repeated: true }, ['a']]);
  });

  test('ends an attempt after some minutes and allows a new one', async () => {
    const { sender, sent, clock } = openSender(() => new Promise(() => undefined));
    const first = sender(message('a')).catch(() => 'over');
    clock.advance(10 * 60_000);
    expect(await first).toBe('over');
    void sender(message('a')).catch(() => undefined);
    expect(sent).toEqual(['a', 'a']);
  });

  test('drain() aborts a send whose caller has timed out', async () => {
    const signals: AbortSignal[] = [];
    const clock = createFakeClock();
    const never = (_message: OutboundMessage, signal: AbortSignal) =>
      new Promise<void>((_, reject) => {
        signals.push(signal);
        signal.addEventListener('abort', () => reject(new Error('given up')));
      });
    const { send, drain } = createOutboundSender({ sent: openSentIds(file(), log), clock, send: never });
    const sending = send(message('a')).catch(() => 'over');
    clock.advance(60_000);
    expect(await sending).toBe('over');
    await drain();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('drain() does not wait for a send whose caller times out meanwhile', async () => {
    const clock = createFakeClock();
    const never = (_message: OutboundMessage, signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))));
    const { send, drain } = createOutboundSender({ sent: openSentIds(file(), log), clock, send: never });
    const sending = send(message('a')).catch(() => 'over');
    const drained = drain();
    clock.advance(60_000);
    expect(await sending).toBe('over');
    await drained;
  });

  test('drain() waits for a running send', async () => {
    let fail: (error: Error) => void = () => undefined;
    const { sender, drain } = openSender(() => new Promise((_, reject) => (fail = reject)));
    const sending = sender(message('a')).catch((error: Error) => error.message);
    let isDrained = false;
    const drained = drain().then(() => (isDrained = true));
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(isDrained).toBe(false);
    fail(new Error('no luck'));
    await drained;
    expect(await sending).toBe('no luck');
  });

  test('rejects further messages while a hundred are under way', async () => {
    const { sender } = openSender(() => new Promise(() => undefined));
    for (let i = 0; i < 100; i++) void sender(message(String(i), `chat ${i}`));
    await expect(sender(message('one more', 'another chat'))).rejects.toMatchObject({ code: 'queue_full' });
  });

  test('rejects further messages for a slow chat, but not for others', async () => {
    const { sender } = openSender(({ target }) => (target === 'slow' ? new Promise(() => undefined) : Promise.resolve()));
    for (let i = 0; i < 20; i++) void sender(message(String(i), 'slow'));
    await expect(sender(message('one more', 'slow'))).rejects.toMatchObject({ code: 'queue_full' });
    expect(await sender(message('other', 'quick'))).toEqual({ repeated: false });
  });
});

describe('sent ids', () => {
  test('keep the newest in a small file', () => {
    const ids = openSentIds(file(), log, 10);
    for (let i = 0; i < 100; i++) ids.add(`id-${i}`);
    expect([ids.has('id-89'), ids.has('id-90')]).toEqual([false, true]);
    expect(readFileSync(file(), 'utf8').split('\n').length).toBeLessThan(22);
    expect(openSentIds(file(), log, 10).has('id-90')).toBe(true);
  });

  test('survive a truncated line', () => {
    writeFileSync(file(), 'one\ntw');
    openSentIds(file(), log).add('three');
    expect(readFileSync(file(), 'utf8')).toBe('one\ntw\nthree\n');
  });
});

describe('channel toggles', () => {
  test("survive a restart, and use the connector's default where nothing was chosen", () => {
    openChannelToggles(folder.path).set('lobby', false);
    const toggles = openChannelToggles(folder.path, false);
    expect([toggles.isEnabled('lobby'), toggles.isEnabled('attic')]).toEqual([false, false]);
    toggles.set('lobby', true);
    expect(openChannelToggles(folder.path, false).isEnabled('lobby')).toBe(true);
  });

  test('throw when the file cannot be read', () => {
    writeFileSync(path.join(folder.path, 'channels.json'), '{"lobby":');
    expect(() => openChannelToggles(folder.path)).toThrow('channels.json cannot be read');
  });
});
