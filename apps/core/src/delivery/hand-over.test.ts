import { expect, onTestFinished, test } from 'vitest';
import type { Action } from '@svc/contract/turn.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import type { Database } from '@svc/store/database.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { openTestDb } from '../../test/open-test-db.ts';
import { createTurnJournal } from '../turn/turn-journal.ts';
import type { Turn } from '../turn/turn.ts';
import type { ChannelMessage } from './channel-sender.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createOutbox } from './outbox.ts';
import { createPendingAcks } from './pending-acks.ts';

const route = { instance_id: 'c1', target: 'room' };
const long = 'x'.repeat(400_000);

/** A change too large for a disk that is nearly full. */
const seeLong = (db: Pick<Database, 'run'>) =>
  db.run("INSERT INTO observed_message (conversation_key, sender, text, at) VALUES ('k', 's', ?, 1)", long);

/** A stored reply that waits for its channel, with the real journal and outbox. */
async function openReply(actions: Action[]) {
  const { db, again } = openTestDb();
  const clock = createFakeClock();
  const sent: string[] = [];
  const log = { warn: () => undefined, error: () => undefined };
  const journal = createTurnJournal(db(), clock);
  const outbox = createOutbox({
    store: createDeliveryStore(db(), clock, randomIds),
    db: db(),
    send: async ({ text, path }: ChannelMessage) => {
      sent.push(text ?? path ?? '');
      return { delivered: true };
    },
    clock,
    log,
    redact: (text) => text,
    onSettled: () => undefined,
  });
  onTestFinished(() => outbox.close());
  const acks = createPendingAcks({ journal, outbox, events: { kept: () => undefined }, clock, log });
  outbox.start(acks);
  const turn: Turn = {
    id: 'turn_1',
    seq: 0,
    requestId: 'r',
    instanceId: 'c1',
    envelope: { channel: 'messenger', conversation_key: 'k', message_id: 'm', sender: { raw_id: 'a' }, content: { text: 'hi' } },
  };
  turn.seq = (await journal.accept(turn, 'running')) ?? 0;
  const result = { actions, outcome: 'replied' as const, conversation_key: 'k', turn_id: turn.id };
  await journal.end(turn, result, true);
  await db().flush();
  acks.expect(turn, route, result, false);
  /** Limits the disk to so many more pages than it holds now; null removes the limit. */
  const limitDisk = (more: number | null) => {
    const pages = Number(db().raw.prepare('PRAGMA page_count').get()?.['page_count']);
    db().raw.exec(`PRAGMA max_page_count = ${more === null ? 2 ** 30 : pages + more}`);
  };
  const openRows = async () => (await createTurnJournal(await again(), clock).open()).length;
  return { db, clock, sent, acks, outbox, turn, limitDisk, openRows };
}

test.each<[string, Action[]]>([
  ['its own text', [{ type: 'reply', text: long }]],
  [
    'its text, and not for its file',
    [
      { type: 'reply', text: long },
      { type: 'file', path: '/f', name: 'f', mime: 'text/plain' },
    ],
  ],
])(
  'a reply that cannot be pushed because the disk is too full for %s is pushed once when there is space',
  async (_what, actions) => {
    const { clock, sent, acks, outbox, limitDisk, openRows } = await openReply(actions);
    limitDisk(1);
    clock.advance(5000);
    await expect.poll(() => acks.isExpected('turn_1')).toBe(true);
    expect(sent).toEqual([]);
    limitDisk(null);
    clock.advance(1000);
    await expect.poll(() => sent).toHaveLength(actions.length);
    await expect.poll(() => outbox.counts()).toEqual({ pending: 0, failed: 0 });
    expect(acks.count()).toBe(0);
    expect(await openRows()).toBe(0);
  },
);

test('a reply to push is sent once when another change meets a full disk at the same time', async () => {
  const { db, clock, sent, acks, limitDisk, openRows } = await openReply([{ type: 'reply', text: 'hello' }]);
  limitDisk(1);
  clock.advance(5000);
  await expect(seeLong(db())).rejects.toThrow('full');
  limitDisk(null);
  await expect.poll(() => (clock.advance(1000), sent)).toEqual(['hello']);
  expect(acks.count()).toBe(0);
  expect(await openRows()).toBe(0);
});

test('a reply that cannot be pushed before the process ends is still open at the next start', async () => {
  const { clock, acks, limitDisk, openRows } = await openReply([{ type: 'reply', text: long }]);
  limitDisk(1);
  clock.advance(5000);
  await expect.poll(() => acks.isExpected('turn_1')).toBe(true);
  expect(await openRows()).toBe(1);
});

test('a delivered reply is recorded as soon as the disk has space again', async () => {
  const { db, clock, sent, acks, limitDisk, openRows } = await openReply([{ type: 'reply', text: 'hello' }]);
  limitDisk(0);
  const said = acks.delivered('turn_1');
  await expect(seeLong(db())).rejects.toThrow('full');
  await expect(said).rejects.toThrow('full');
  limitDisk(null);
  clock.advance(1000);
  await expect.poll(() => db().raw.prepare('SELECT state FROM turn').get()?.['state']).toBe('delivered');
  expect(sent).toEqual([]);
  expect(await openRows()).toBe(0);
});
