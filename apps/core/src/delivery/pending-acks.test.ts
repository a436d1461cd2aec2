import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createPendingAcks } from './pending-acks.ts';

function open(limits: { replies: number; chars: number }) {
  const pushed: [string, unknown, string | null][] = [];
  const pendingAcks = createPendingAcks(
    {
      journal: { settle: async () => undefined },
      outbox: {
        push: async ({ turn_id, route, error }: { turn_id: string; route: unknown; error: string | null }) =>
          void pushed.push([turn_id, route, error]),
      },
      clock: createFakeClock(),
      log: { error: () => undefined },
    } as never,
    limits,
  );
  const route = { instance_id: 'c', target: 'room' };
  const expectReply = (id: string, isAttended: boolean, text = 'hi') => {
    const envelope = { conversation_key: 'k', content: { text: '1234' } };
    pendingAcks.expect({ id, seq: 1, envelope } as never, route, { actions: [{ type: 'reply', text }] } as never, isAttended);
  };
  return { pendingAcks, pushed, expectReply, route };
}

test('of more replies than may wait for a word of their connectors the oldest is listed as never said', async () => {
  const { pendingAcks, pushed, expectReply } = open({ replies: 3, chars: 1e9 });
  for (let n = 0; n < 10; n++) expectReply(`t${n}`, true);
  expect(pendingAcks.count()).toBe(3);
  expect(pushed.map(([id]) => id)).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6']);
  expect(pushed[0]).toEqual(['t0', null, expect.stringContaining('too many replies wait')]);
  expect(pendingAcks.isExpected('t0')).toBe(false);
  await pendingAcks.delivered('t0');
  expect(pendingAcks.count()).toBe(3);
});

test('long ones count by what they hold, and one that waits for its caller is pushed', async () => {
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
