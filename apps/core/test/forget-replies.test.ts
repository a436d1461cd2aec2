import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SendOutcome } from '../src/delivery/channel-sender.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';
import { tablesWith } from './rows-with.ts';

const word = 'amaryllis';
const key = 'compat:c1:key';
let core: TestCore;
let outcome: SendOutcome;

beforeEach(async () => {
  outcome = { delivered: true };
  core = await openTestCore({ sendToChannel: () => Promise.resolve(outcome) });
});
afterEach(() => core.close());

const inTables = async () => {
  await core.context.db.flush();
  return tablesWith(core.context.db.raw, word);
};
const forget = async () => {
  const answer = await core.app.inject({ method: 'DELETE', url: `/v2/session/${key}` });
  expect([answer.statusCode, answer.body]).toEqual([200, answer.body]);
};
/** A turn whose caller was gone when its reply was made; the reply can be pushed. */
async function answerNobody() {
  const said = envelope(`echo ${word}`, { message_id: 'm1', channel_context: { chatId: 'chat' } });
  const { turn_id } = await core.context.pipeline.handle(said, { sink: null, isGone: () => true }, 'req');
  core.context.pipeline.pendingAcks.accepted(turn_id);
  return { turn_id, push: () => core.context.pipeline.pendingAcks.undelivered(turn_id, 'the test says so') };
}
const states = () =>
  core.context.db.raw
    .prepare('SELECT state FROM delivery')
    .all()
    .map(({ state }) => state);

test('a delivered reply of a forgotten conversation is nowhere', async () => {
  await (await answerNobody()).push();
  await expect.poll(states).toEqual(['delivered']);
  expect(await inTables()).toContain('delivery');
  await forget();
  expect(await inTables()).toEqual([]);
});

test('nor one that failed, which nobody counts any more', async () => {
  outcome = { delivered: false, permanent: true, error: `no such chat as ${word}` };
  await (await answerNobody()).push();
  await expect.poll(states).toEqual(['failed']);
  await forget();
  expect(await inTables()).toEqual([]);
  expect(core.context.outbox.counts()).toEqual({ pending: 0, failed: 0 });
});

test('a reply that its channel had when the conversation was forgotten goes when the channel says so', async () => {
  const { turn_id } = await answerNobody();
  await forget();
  await core.context.pipeline.pendingAcks.delivered(turn_id);
  expect(await inTables()).toEqual([]);
});

test('one that has to be pushed after that arrives, and goes then', async () => {
  outcome = { delivered: false, permanent: false, error: 'later' };
  const { push } = await answerNobody();
  await forget();
  await push();
  await expect.poll(states).toEqual(['pending']);
  outcome = { delivered: true };
  const { id } = core.context.db.raw.prepare('SELECT id FROM delivery').get() as { id: string };
  await core.context.outbox.retry(id);
  await expect.poll(inTables).toEqual([]);
});

test('and so does one that waited for its channel', async () => {
  outcome = { delivered: false, permanent: false, error: 'later' };
  await (await answerNobody()).push();
  await expect.poll(states).toEqual(['pending']);
  await forget();
  expect(await inTables()).toEqual(['delivery']);
  const later = await openTestCore({ dataDir: core.crash() });
  core = later;
  await expect.poll(inTables).toEqual([]);
});

test('one that failed after it was forgotten is listed until an operator says that it arrived', async () => {
  outcome = { delivered: false, permanent: true, error: 'no such chat' };
  const { push } = await answerNobody();
  await forget();
  await push();
  await expect.poll(states).toEqual(['failed']);
  const { id } = core.context.db.raw.prepare('SELECT id FROM delivery').get() as { id: string };
  expect((await core.app.inject({ method: 'POST', url: `/v2/deliveries/${id}/delivered` })).statusCode).toBe(200);
  expect(await inTables()).toEqual([]);
});
