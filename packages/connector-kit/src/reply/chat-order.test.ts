import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createSimulatedChat, createSimulatedState, passUntil } from '../../test/simulated-chat.ts';
import { createChatGate } from './chat-gate.ts';
import { createReplyWriter } from './reply-writer.ts';

const words = 'A reply that is long enough to be shown.';

function setUp() {
  const clock = createFakeClock();
  const chat = createSimulatedChat(clock);
  const state = createSimulatedState().open(() => false);
  const gate = createChatGate({ clock, perMs: 100 });
  const writer = createReplyWriter({ ...chat.platform, limit: 2000, clock, gate, state, log: () => undefined, unsure: 'nonce' });
  const open = (id: string) => writer.openReply(toEnvelope(id), { turnId: `t${id}`, again: false });
  const finish = (id: string, reply = open(id)) => reply.finish(toResult(id)).then(() => 'shown', String);
  const settled = async (work: Promise<unknown>[]) => {
    let isOver = false;
    void Promise.all(work).then(() => (isOver = true));
    await passUntil(clock, () => isOver);
    return Promise.all(work);
  };
  return { clock, chat, writer, open, finish, settled };
}

const toEnvelope = (id: string): Envelope => ({
  channel: 'chat',
  conversation_key: 'chat:i1:channel:room',
  message_id: `m${id}`,
  sender: { raw_id: 'ann' },
  content: { text: 'hello' },
  channel_context: { chatId: 'room' },
});
const toResult = (id: string): HandleResult => ({
  actions: [{ type: 'reply', text: `${id}: ${words}` }],
  outcome: 'replied',
  conversation_key: 'chat:i1:channel:room',
  turn_id: `t${id}`,
});

test('the reply to the next message does not overtake a reply that is retried', async () => {
  const { chat, finish, settled } = setUp();
  chat.luck.push('failed');
  await settled([finish('1'), finish('2')]);
  expect(chat.shown()).toEqual([`1: ${words}`, `2: ${words}`]);
});

test('a growing reply is not shown before the previous one is complete', async () => {
  const { chat, open, finish, settled } = setUp();
  chat.luck.push('failed');
  const [first, second] = [finish('1'), open('2')];
  second.handlers.onDelta?.(`2: ${words}`);
  await settled([first]);
  await settled([finish('2', second)]);
  expect(chat.shown()).toEqual([`1: ${words}`, `2: ${words}`]);
});

test('a reply waits for the replies to earlier messages, but not for long', async () => {
  const { chat, clock, writer, finish, settled } = setUp();
  const never = new Promise<void>(() => undefined);
  const earlier = Promise.withResolvers<void>();
  const openBehind = (id: string, before: Promise<void>) =>
    writer.openReply(toEnvelope(id), { turnId: `t${id}`, again: false, before });
  const second = finish('2', openBehind('2', earlier.promise));
  await settled([finish('1')]);
  expect(chat.shown()).toEqual([`1: ${words}`]);
  earlier.resolve();
  const began = clock.elapsed();
  await settled([second, finish('3', openBehind('3', never))]);
  expect(chat.shown()).toEqual([`1: ${words}`, `2: ${words}`, `3: ${words}`]);
  expect(clock.elapsed() - began).toBeLessThan(30_000);
});

test('a reply that cannot be shown does not block the next ones', async () => {
  const { chat, finish, settled } = setUp();
  chat.luck.push(...Array<'failed'>(5).fill('failed'));
  expect(await settled([finish('1'), finish('2')])).toEqual(['Error: the platform failed', 'shown']);
  expect(chat.shown()).toEqual([`2: ${words}`]);
});

test('a running turn does not block later replies, such as the answer to a command', async () => {
  const { chat, open, finish, settled } = setUp();
  const first = open('1');
  await settled([finish('2')]);
  await settled([finish('1', first)]);
  expect(chat.shown()).toEqual([`2: ${words}`, `1: ${words}`]);
});

test('a push that was aborted leaves the line', async () => {
  const { chat, writer, finish, settled } = setUp();
  chat.luck.push('failed');
  const giveUp = new AbortController();
  const first = finish('1');
  const push = writer.send({ id: 'o1', target: 'room', kind: 'text', text: 'news' }, giveUp.signal).catch(String);
  giveUp.abort(new Error('nobody waits'));
  expect(await settled([push, first])).toEqual(['Error: nobody waits', 'shown']);
  expect(chat.shown()).toEqual([`1: ${words}`]);
});
