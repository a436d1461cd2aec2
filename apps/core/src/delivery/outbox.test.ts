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
