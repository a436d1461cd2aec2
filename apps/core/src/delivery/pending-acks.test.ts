import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createPendingAcks } from './pending-acks.ts';

function open(limits: { replies: number; chars: number }) {
  const pushed: [string, unknown, string | null][] = [];
  const kept: string[] = [];
  const settled: unknown[] = [];
  const clock = createFakeClock();
  const pendingAcks = createPendingAcks(
    {
      journal: { settle: async ({ id }: { id: string }, state: string) => void settled.push([id, state]) },
      outbox: {
        pushAll: async (deliveries: { turn_id: string; route: unknown; error: string | null }[], change: () => unknown) => {
          for (const { turn_id, route, error } of deliveries) pushed.push([turn_id, route, error]);
          await change();
          return [];
        },
      },
      events: { kept: ({ id }: { id: string }) => void kept.push(id) },
      clock,
      log: { error: () => undefined },
    } as never,
    limits,
  );
  const route = { instance_id: 'c', target: 'room' };
  const expectReply = (id: string, isAttended: boolean, text = 'hi', keeps = false, seq = 1) => {
    const envelope = { conversation_key: 'k', content: { text: '1234' }, keeps };
    pendingAcks.expect({ id, seq, envelope } as never, route, { actions: [{ type: 'reply', text }] } as never, isAttended);
  };
  return { pendingAcks, pushed, kept, settled, clock, expectReply, route };
}

test('the oldest unconfirmed reply over the limit is listed as failed', async () => {
  const { pendingAcks, pushed, expectReply } = open({ replies: 3, chars: 1e9 });
  for (let n = 0; n < 10; n++) expectReply(`t${n}`, true);
  expect(pendingAcks.count()).toBe(3);
  expect(pushed.map(([id]) => id)).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6']);
  expect(pushed[0]).toEqual(['t0', null, expect.stringContaining('too many replies are waiting')]);
  expect(pendingAcks.isExpected('t0')).toBe(false);
  await pendingAcks.delivered('t0');
  expect(pendingAcks.count()).toBe(3);
});

test('unconfirmed replies are also limited by their length, and one without a connector is pushed', async () => {
  const { pendingAcks, pushed, expectReply, route } = open({ replies: 1000, chars: 1000 });
  expectReply('t0', false, 'x'.repeat(600));
  expectReply('t1', true, 'x'.repeat(600));
  expect(pushed).toEqual([['t0', route, null]]);
  await pendingAcks.delivered('t1');
  for (let n = 2; n < 100; n++) {
    expectReply(`t${n}`, true, 'x'.repeat(900));
    await pendingAcks.delivered(`t${n}`);
  }
  expect([pushed.length, pendingAcks.count()]).toEqual([1, 0]);
});

test('an unfetched reply on a channel that keeps its history is neither pushed nor listed as failed', async () => {
  const { pendingAcks, pushed, kept, settled, clock, expectReply } = open({ replies: 1000, chars: 1e9 });
  expectReply('nobody', false, 'hi', true);
  expectReply('silent', true, 'hi', true);
  expectReply('broken', true, 'hi', true);
  await pendingAcks.undelivered('broken', 'the screen is off');
  clock.advance(10 * 60_000);
  await Promise.resolve();
  expect(pushed).toEqual([]);
  expect(kept).toEqual(['broken', 'nobody', 'silent']);
  expect(settled).toEqual(kept.map((id) => [id, 'replied']));
  expectReply('fetched', true, 'hi', true);
  await pendingAcks.delivered('fetched');
  expect(settled.at(-1)).toEqual(['fetched', 'delivered']);
});

test('a reply is open in its conversation until its channel has it or the outbox takes it', async () => {
  const { pendingAcks, pushed, expectReply } = open({ replies: 9, chars: 1e9 });
  const ended: string[] = [];
  pendingAcks.onEnd((turnId) => ended.push(`${turnId} after ${pushed.length}`));
  expectReply('first', true);
  expectReply('second', true, 'hi', false, 2);
  expectReply('kept', true, 'hi', true, 3);
  const openNow = () => pendingAcks.openIn('k').map(({ turnId }) => turnId);
  expect([openNow(), pendingAcks.openIn('other')]).toEqual([['first', 'second', 'kept'], []]);
  await pendingAcks.delivered('first');
  const pushing = pendingAcks.undelivered('second', 'the channel is away');
  expect([openNow(), ended]).toEqual([['kept', 'second'], ['first after 0']]);
  await pushing;
  await pendingAcks.undelivered('kept', 'the channel is away');
  expect([openNow(), ended]).toEqual([[], ['first after 0', 'second after 1', 'kept after 1']]);
});
