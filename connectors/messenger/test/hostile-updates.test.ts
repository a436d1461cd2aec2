import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readUpdate } from '../src/incoming/read-update.ts';
import { openMessenger } from './open-messenger.ts';

const user = { id: 7, is_bot: false, first_name: 'Eve' };
const chat = { id: 7, type: 'private', first_name: 'Eve' };
const message = { message_id: 1, date: 1, chat, from: user, text: 'x' };

/** Updates that Telegram does not send, or does not send yet. */
const odd: Record<string, unknown>[] = [
  {},
  { message: null },
  { message: 5 },
  { message: {} },
  { message: { ...message, chat: undefined } },
  { message: { ...message, chat: { ...chat, id: 2 ** 60 } } },
  { message: { ...message, chat: { ...chat, id: '7' } } },
  { message: { ...message, message_id: 1.5 } },
  { message: { ...message, from: { id: null } } },
  { message: { ...message, text: 5 } },
  { message: { ...message, text: undefined, photo: [] } },
  { message: { ...message, text: undefined, photo: 'x' } },
  { message: { ...message, text: undefined, photo: [null] } },
  { message: { ...message, text: undefined, document: {} } },
  { message: { ...message, text: undefined, voice: { file_id: {} } } },
  { message: { ...message, entities: 7, chat: { id: -5, type: 'group' } } },
  { message: { ...message, entities: [null], chat: { id: -5, type: 'group' } } },
  { message: { ...message, reply_to_message: null, forward_origin: 'x' } },
  { message: { ...message, poll: { question: 'x' } } },
  { message: { ...message, media_group_id: 5 } },
  { message: { ...message, migrate_to_chat_id: 'x' } },
  { message: { ...message, sender_chat: { id: {} } } },
  { edited_message: { ...message, text: {} } },
  { callback_query: { id: 1 } },
  { callback_query: { id: '1', from: user, data: {} } },
  { callback_query: { id: '1', from: user } },
  { my_chat_member: { chat } },
  { a_kind_of_the_future: { deep: [[[[]]]] } },
];

const hostile = [
  '\ud800',
  'a\udc00b',
  '\u0000',
  '\u202e',
  '/',
  '/@',
  '@the_test_bot',
  '/start\ud800',
  ' ',
  '\n',
  'x'.repeat(100_000),
];

test('skips malformed updates and handles those after them', async () => {
  const channel = await openMessenger();
  const { server, core } = channel;
  core.script = ({ result }) => result({ outcome: 'silent' });
  const ann = server.person('Ann');
  for (const body of odd) {
    const [kind = 'nothing'] = Object.keys(body);
    server.addUpdate(kind, body[kind] as object);
  }
  for (const text of hostile) server.say({ from: ann, text });
  server.say({ from: ann, text: 'the last' });
  await expect.poll(() => core.turns.at(-1)?.envelope.content.text, { timeout: 20_000 }).toBe('the last');
  await expect.poll(() => server.pendingUpdates()).toEqual([]);
  for (const { envelope } of core.turns) expect(JSON.stringify(envelope).isWellFormed()).toBe(true);
  expect(channel.health()).toEqual({ healthy: true });
}, 30_000);

test('keeps the order of 150 messages sent at once', async () => {
  const channel = await openMessenger();
  const { server, core } = channel;
  core.script = ({ result }) => result({ outcome: 'silent' });
  const ann = server.person('Ann');
  const texts = Array.from({ length: 150 }, (_, n) => `message ${n}`);
  for (const text of texts) server.say({ from: ann, text });
  await expect.poll(() => core.turns.length, { timeout: 20_000 }).toBe(150);
  expect(core.turns.map(({ envelope }) => envelope.content.text)).toEqual(texts);
}, 30_000);

test('readUpdate() accepts any input, and rejects ids that are not exact integers', () => {
  fc.assert(fc.property(fc.anything(), (update) => void readUpdate(update)));
  expect(readUpdate({ update_id: '12' })).toEqual({ id: 12, kind: 'other' });
  for (const update_id of [-1, 1.5, 2 ** 60, '1e3', ' 1', null, {}, 'x'.repeat(1000)])
    expect(readUpdate({ update_id })).toBe(null);
  expect(readUpdate({ update_id: 1, message: { ...message, from: { ...user, id: 2 ** 53 } } })).toMatchObject({ kind: 'other' });
});
