import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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
/** A turn whose caller has disconnected before the reply; the reply can be pushed. */
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

test('forgetting a conversation deletes its delivered replies', async () => {
  await (await answerNobody()).push();
  await expect.poll(states).toEqual(['delivered']);
  expect(await inTables()).toContain('delivery');
  await forget();
  expect(await inTables()).toEqual([]);
});

test('forgetting a conversation deletes its failed replies, which are no longer counted', async () => {
  outcome = { delivered: false, permanent: true, error: `no such chat as ${word}` };
  await (await answerNobody()).push();
  await expect.poll(states).toEqual(['failed']);
  await forget();
  expect(await inTables()).toEqual([]);
  expect(core.context.outbox.counts()).toEqual({ pending: 0, failed: 0 });
});

test('many replies are deleted in steps, between which others have their turn', async () => {
  const { context } = core;
  const failed = {
    turn_id: 't1',
    turn_seq: 0,
    conversation_key: key,
    text: word,
    injected: false,
    route: null,
    error: 'no route',
  };
  await Promise.all(Array.from({ length: 450 }, () => context.outbox.push(failed)));
  expect(context.outbox.counts().failed).toBe(450);
  const statements = vi.spyOn(context.db, 'all');
  await context.outbox.forget(key);
  const removed = await Promise.all(statements.mock.results.map(({ value }) => value as Promise<unknown[]>));
  expect(Math.max(...removed.map(({ length }) => length))).toBe(200);
  expect(await inTables()).toEqual([]);
  expect(context.outbox.counts()).toEqual({ pending: 0, failed: 0 });
});

test('a reply being handed over while its conversation is forgotten is deleted once the channel confirms it', async () => {
  const { turn_id } = await answerNobody();
  await forget();
  await core.context.pipeline.pendingAcks.delivered(turn_id);
  expect(await inTables()).toEqual([]);
});

test('a reply pushed after its conversation was forgotten is delivered, then deleted', async () => {
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

test('a reply pending when its conversation is forgotten is delivered after a restart, then deleted', async () => {
  outcome = { delivered: false, permanent: false, error: 'later' };
  await (await answerNobody()).push();
  await expect.poll(states).toEqual(['pending']);
  await forget();
  expect(await inTables()).toEqual(['delivery']);
  const later = await openTestCore({ dataDir: core.crash() });
  core = later;
  await expect.poll(inTables).toEqual([]);
});

test('a reply that fails after its conversation was forgotten stays until an operator marks it as delivered', async () => {
  outcome = { delivered: false, permanent: true, error: 'no such chat' };
  const { push } = await answerNobody();
  await forget();
  await push();
  await expect.poll(states).toEqual(['failed']);
  const { id } = core.context.db.raw.prepare('SELECT id FROM delivery').get() as { id: string };
  expect((await core.app.inject({ method: 'POST', url: `/v2/deliveries/${id}/delivered` })).statusCode).toBe(200);
  expect(await inTables()).toEqual([]);
});
