import { expect, test } from 'vitest';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { ChannelMessage, SendOutcome } from './channel-sender.ts';
import { openTestOutbox } from '../../test/open-test-outbox.ts';

const route = { instance_id: 'c1', target: 'room' };
const reply = { turn_id: 't', turn_seq: 1, conversation_key: 'k', text: 'hi', injected: false, route, error: null };

test('a reply for which there is no room any more is listed, and tried when the operator says so', async () => {
  const outbox = openTestOutbox(() => new Promise(() => undefined), createFakeClock());
  await Promise.all(Array.from({ length: 5000 }, () => outbox.push(reply)));
  await expect.poll(() => outbox.counts()).toEqual({ pending: 5000, failed: 0 });
  const refused = await outbox.push(reply);
  expect(refused).toMatchObject({ state: 'failed', ...route, error: 'too many deliveries are waiting' });
  expect(await outbox.retry(refused.id)).toBe(true);
  expect(outbox.counts()).toEqual({ pending: 5001, failed: 0 });
  outbox.close();
});

test('a reply that waits for its next try gets it in time, also when the clock is set back meanwhile', async () => {
  const time = createFakeClock();
  let setBackMs = 0;
  const clock: Clock = { ...time, now: () => time.now() - setBackMs };
  let tries = 0;
  const outbox = openTestOutbox(
    async () => (++tries === 1 ? { delivered: false, permanent: false, error: 'away' } : { delivered: true }),
    clock,
  );
  await outbox.push(reply);
  await expect.poll(() => tries).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  setBackMs = 3 * 3_600_000;
  await expect.poll(() => (time.advance(1000), tries)).toBe(2);
  await expect.poll(() => outbox.counts()).toEqual({ pending: 0, failed: 0 });
  expect(time.now() - clock.now()).toBe(setBackMs);
  outbox.close();
});

test('a reply that reached its person another way counts as delivered once, however often that is said', async () => {
  const outbox = openTestOutbox(() => new Promise(() => undefined), createFakeClock());
  const { id } = await outbox.push({ ...reply, route: null, error: 'nobody came' });
  const waiting = await outbox.push(reply);
  expect(await Promise.all([outbox.confirm(id), outbox.confirm(id)])).toEqual([true, true]);
  expect([await outbox.confirm(id), await outbox.confirm(waiting.id), await outbox.confirm('none')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(await outbox.retry(id)).toBe(false);
  expect(outbox.counts()).toMatchObject({ failed: 0 });
  outbox.close();
});

test('a pushed reply says which turn it belongs to, and a text of no turn does not', async () => {
  const sent: ChannelMessage[] = [];
  const send = async (message: ChannelMessage): Promise<SendOutcome> => {
    sent.push(message);
    return { delivered: true };
  };
  const outbox = openTestOutbox(send, createFakeClock());
  await outbox.push({ ...reply, message_id: 'm1' });
  await outbox.push({ ...reply, turn_id: 't2' });
  await outbox.push({ ...reply, turn_id: 'snd_1', turn_seq: 0 });
  await expect
    .poll(() => sent.map(({ about }) => about))
    .toEqual([{ turn_id: 't', message_id: 'm1' }, { turn_id: 't2' }, undefined]);
  outbox.close();
});

/** An outbox whose deliveries wait for the replies of the turns in `shown` until they are taken out of it. */
function openHeld(time = createFakeClock()) {
  const sent: string[] = [];
  const shown = new Map<number, PromiseWithResolvers<void>>();
  const outbox = openTestOutbox(
    async ({ text }: ChannelMessage): Promise<SendOutcome> => (sent.push(text ?? ''), { delivered: true }),
    time,
    (_, seq) => [...shown].find(([each]) => each < seq)?.[1].promise ?? null,
  );
  const say = (text: string, turn_seq: number, target = 'room') =>
    outbox.push({ ...reply, text, turn_seq, route: { ...route, target } });
  const show = (seq: number) => shown.set(seq, Promise.withResolvers());
  const end = (seq: number) => {
    shown.get(seq)?.resolve();
    shown.delete(seq);
  };
  return { outbox, sent, say, show, end, time };
}

test('a reply is sent when the earlier one of its conversation, which a connector still shows, has ended', async () => {
  const { outbox, sent, say, show, end } = openHeld();
  show(1);
  await say('second', 2);
  await say('elsewhere', 2, 'other room');
  await say('of no turn', 0);
  await say('first of all', 1, 'third room');
  await expect.poll(() => sent).toEqual(['first of all']);
  end(1);
  await expect.poll(() => sent).toEqual(['first of all', 'second', 'elsewhere', 'of no turn']);
  outbox.close();
});

test('a reply that its connector could not show goes before the later one that waited for it', async () => {
  const { outbox, sent, say, show, end } = openHeld();
  show(1);
  await say('second', 2);
  await say('third', 3);
  await say('first', 1);
  await say('first, file', 1);
  end(1);
  await expect.poll(() => sent).toEqual(['first', 'first, file', 'second', 'third']);
  outbox.close();
});

test('a reply waits for an earlier one no longer than its connector tries to show it', async () => {
  const { outbox, sent, say, show, time } = openHeld();
  show(1);
  await say('second', 2);
  await new Promise((resolve) => setImmediate(resolve));
  time.advance(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([]);
  time.advance(10_000);
  await expect.poll(() => sent).toEqual(['second']);
  outbox.close();
});
