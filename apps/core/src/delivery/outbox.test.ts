import { expect, onTestFinished, test } from 'vitest';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { ChannelMessage, SendOutcome } from './channel-sender.ts';
import { openTestOutbox } from '../../test/open-test-outbox.ts';

const route = { instance_id: 'c1', target: 'room' };
const reply = { turn_id: 't', turn_seq: 1, conversation_key: 'k', text: 'hi', injected: false, route, error: null };

test('a reply over the limit of pending deliveries is listed as failed and can be retried', async () => {
  const outbox = openTestOutbox(() => new Promise(() => undefined), createFakeClock());
  await Promise.all(Array.from({ length: 5000 }, () => outbox.push(reply)));
  await expect.poll(() => outbox.counts()).toEqual({ pending: 5000, failed: 0 });
  const refused = await outbox.push(reply);
  expect(refused).toMatchObject({ state: 'failed', ...route, error: 'too many deliveries are waiting' });
  expect(await outbox.retry(refused.id)).toBe(true);
  expect(outbox.counts()).toEqual({ pending: 5001, failed: 0 });
  outbox.close();
});

test('a retry is made in time even when the clock is set back meanwhile', async () => {
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

test('confirming a failed reply marks it delivered and is idempotent', async () => {
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

test('a pushed reply names its turn, and a text without a turn does not', async () => {
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

/** An outbox beside connectors that show replies: from `show` until `end`. */
function openBeside(send = async (): Promise<SendOutcome> => ({ delivered: true })) {
  const time = createFakeClock();
  const sent: string[] = [];
  const shown = new Map<string, { turnId: string; turnSeq: number; since: number }>();
  let onEnd = (_turnId: string): void => undefined;
  const outbox = openTestOutbox(
    async ({ text = '' }: ChannelMessage) => {
      sent.push(text);
      return send();
    },
    time,
    { openIn: () => [...shown.values()], onEnd: (listener) => void (onEnd = listener) },
  );
  onTestFinished(() => outbox.close());
  const say = (text: string, turnId: string, { target = 'room', turn_seq = 1 } = {}) =>
    outbox.push({ ...reply, text, turn_id: turnId, turn_seq, route: { ...route, target } });
  const show = (turnId: string) => shown.set(turnId, { turnId, turnSeq: 1, since: time.elapsed() });
  const end = (turnId: string) => {
    shown.delete(turnId);
    onEnd(turnId);
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { outbox, time, sent, say, show, end, settled };
}

test('a reply is sent after earlier replies of its conversation were shown', async () => {
  const { sent, say, show, end } = openBeside();
  show('first');
  await say('second', 'second');
  show('third');
  await say('elsewhere', 'second', { target: 'other room' });
  await say('of no turn', '', { turn_seq: 0, target: 'third room' });
  await expect.poll(() => sent).toEqual(['of no turn']);
  end('first');
  await expect.poll(() => sent).toEqual(['of no turn', 'second']);
  end('third');
  await expect.poll(() => sent).toEqual(['of no turn', 'second', 'elsewhere']);
});

test('a reply that its connector could not show is sent before the later ones that waited for it', async () => {
  const { sent, say, show, end } = openBeside();
  show('first');
  await say('second', 'second');
  await say('third', 'third');
  await say('first', 'first');
  await say('first, file', 'first');
  end('first');
  await expect.poll(() => sent).toEqual(['first', 'first, file', 'second', 'third']);
});

test('a reply that ends while a later one is being stored no longer delays it', async () => {
  const { sent, say, show, end } = openBeside();
  show('first');
  const pushed = say('second', 'second');
  end('first');
  await pushed;
  await expect.poll(() => sent).toEqual(['second']);
});

test('replies wait for an earlier one until it is 70 s old', async () => {
  const { sent, say, show, time, settled } = openBeside();
  show('first');
  await say('second', 'second');
  await say('third', 'third');
  await settled();
  time.advance(69_000);
  await settled();
  expect(sent).toEqual([]);
  time.advance(1000);
  await expect.poll(() => sent).toEqual(['second', 'third']);
  await say('fourth', 'fourth');
  await expect.poll(() => sent).toHaveLength(3);
});

test('a retry sends a reply that waits for an earlier one at once', async () => {
  const { outbox, sent, say, show, settled } = openBeside();
  show('first');
  const { id } = await say('second', 'second');
  await settled();
  expect(sent).toEqual([]);
  expect(await outbox.retry(id)).toBe(true);
  await expect.poll(() => sent).toEqual(['second']);
});

test('a reply does not wait for one that was made later, whichever message came first', async () => {
  let isAway = true;
  const { sent, say, show, time } = openBeside(async () =>
    isAway ? { delivered: false, permanent: false, error: 'away' } : { delivered: true },
  );
  await say('of an edit', 'edit', { turn_seq: 6 });
  await expect.poll(() => sent).toEqual(['of an edit']);
  show('of a message that waited longer');
  isAway = false;
  await expect.poll(() => (time.advance(1000), sent)).toEqual(['of an edit', 'of an edit']);
});
