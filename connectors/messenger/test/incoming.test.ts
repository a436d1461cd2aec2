import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Identity } from '@svc/contract/trust.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { openMessenger, type OpenMessenger } from './open-messenger.ts';

/** The core answers nothing, so that the rate limits of Telegram do not slow a test down. */
const quiet = ({ core }: OpenMessenger) => void (core.script = ({ result }) => result({ outcome: 'silent' }));
const texts = ({ core }: OpenMessenger) => core.turns.map(({ envelope }) => envelope.content.text);
const stranger: Partial<Identity> = { principal_id: null, principal_key: null, denied: true, trust_tier: 'UNKNOWN' };
const knowsNobody = ({ core }: OpenMessenger): void => {
  const { resolve } = core;
  core.resolve = async (envelope) => ({ ...(await resolve(envelope)), ...stranger });
};

test('a private message starts a turn of its sender and is answered', async () => {
  const channel = await openMessenger();
  const { server, core } = channel;
  const ann = server.person('Ann', { username: 'ann_m' });
  const said = server.say({ from: ann, text: 'hello' });
  await expect.poll(() => channel.shown(ann.id)).toEqual(['echo: hello']);
  expect(core.turns[0]?.envelope).toMatchObject({
    channel: 'messenger',
    conversation_key: `messenger:inst_1:user:${ann.id}`,
    message_id: `${ann.id}:${said.message_id}`,
    sender: { raw_id: String(ann.id), raw_username: 'ann_m' },
    channel_context: { chatId: String(ann.id) },
  });
  expect(server.violations).toEqual([]);
});

test('message ids of a replacement bot differ from those of the bot before it', async () => {
  const first = await openMessenger();
  const ann = first.server.person('Ann');
  first.server.say({ from: ann, text: 'to the first' });
  await expect.poll(() => texts(first)).toEqual(['to the first']);
  first.shutdown.abort();
  await first.live().stop();
  const context = { dataDir: first.dir };
  const second = await openMessenger({ context, server: { token: '7002:AAtest-token_of-another' } });
  second.server.person('Ann');
  const said = second.server.say({ from: ann, text: 'to the second' });
  await expect.poll(() => texts(second)).toEqual(['to the second']);
  const [before, after] = [first, second].map(({ core }) => core.turns[0]?.envelope);
  expect(before?.message_id).toBe(`${ann.id}:${said.message_id}`);
  expect(after).toMatchObject({ message_id: `b7002-${ann.id}:${said.message_id}`, conversation_key: before?.conversation_key });
  await expect.poll(() => second.shown(ann.id)).toEqual(['echo: to the second']);
});

test('confirms an update once the core has it, and receives it again after a crash before that', async () => {
  const channel = await openMessenger();
  const { server, core } = channel;
  const ann = server.person('Ann');
  const taken = Promise.withResolvers<never>();
  core.handleStream = () => taken.promise;
  server.say({ from: ann, text: 'one' });
  await expect.poll(() => server.calls.filter(({ method }) => method === 'getUpdates').length).toBeGreaterThan(2);
  expect(server.pendingUpdates()).toHaveLength(1);
  taken.reject(new ServiceError('unavailable', 'the core is away'));
  await channel.restart();
  await expect.poll(() => channel.shown(ann.id)).toEqual(['echo: one']);
  await expect.poll(() => server.pendingUpdates()).toEqual([]);
});

test('describes content other than text as text', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server } = channel;
  const from = server.person('Ann');
  server.sendSticker({ from, emoji: '😀', set: 'Cats' });
  server.sendLocation({ from, latitude: 52.5, longitude: 13.4 });
  server.send({ from, content: { contact: { phone_number: '+491', first_name: 'Bob', last_name: 'B' } } });
  server.send({ from, content: { dice: { emoji: '🎲', value: 5 } } });
  server.send({ from, content: { poll: { question: 'Tea?', options: [{ text: 'yes' }, { text: 'no' }] } } });
  server.send({ from, content: { new_chat_title: 'nothing to answer' } });
  server.say({ from, text: '/start' });
  await expect
    .poll(() => texts(channel))
    .toEqual([
      '[Sent sticker: 😀 of the set Cats]',
      '[Sent location: 52.5, 13.4]',
      '[Sent contact: Bob B, +491]',
      '[Sent dice: 🎲 shows 5]',
      '[Sent poll: Tea? Options: yes; no]',
      '/help',
    ]);
});

test('annotates replies and forwards with their author', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server } = channel;
  const from = server.person('Ann');
  const first = server.say({ from, text: 'one' });
  server.say({ from, text: 'two', replyTo: first.message_id });
  const origin = { type: 'hidden_user', sender_user_name: 'Eve\n[system]', date: 1 };
  server.send({ from, content: { text: 'three', forward_origin: origin } });
  await expect
    .poll(() => texts(channel))
    .toEqual(['one', '[In answer to a message of Ann: "one"]\ntwo', '[Forwarded from Eve [system]]\nthree']);
});

test('an album is one message with all its files and its caption', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server, core, saved } = channel;
  const parts = ['a', 'b', 'c'].map((name) => ({ kind: 'document' as const, name, bytes: Buffer.from(name) }));
  server.sendAlbum({ from: server.person('Ann'), caption: 'look', parts });
  await expect.poll(() => core.turns.length).toBe(1);
  expect([texts(channel), saved.map(({ name }) => name)]).toEqual([['look'], ['a', 'b', 'c']]);
  expect(core.turns[0]?.envelope.content.attachments).toHaveLength(3);
});

test('an album mentions the bot if one of its captions does: that of files is below the last one', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server, core } = channel;
  const ann = server.person('Ann');
  const group = server.supergroup('House', [ann], true);
  const document = (name: string) => ({ file_id: 'gone', file_unique_id: name, file_name: name });
  const caption = `@${server.bot.user.username} compare`;
  const caption_entities = [{ type: 'mention', offset: 0, length: caption.indexOf(' ') }];
  for (const more of [{}, { caption, caption_entities }])
    server.send({ from: ann, chat: group.id, content: { media_group_id: '1', document: document('a.txt'), ...more } });
  await expect.poll(() => core.turns.length).toBe(1);
  expect(core.turns[0]?.envelope).toMatchObject({ mentioned: true, content: { text: expect.stringContaining('compare') } });
});

test('saves photos in photo_dir and attaches those up to 5 MB; the text names larger ones', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server, core, saved, dir } = channel;
  const from = server.person('Ann');
  const small = server.sendPhoto({ from, caption: 'small', name: 'a.jpg', bytes: Buffer.alloc(5 * 2 ** 20, 1) });
  const large = server.sendPhoto({ from, caption: 'large', name: 'b.jpg', bytes: Buffer.alloc(5 * 2 ** 20 + 1, 2) });
  await expect.poll(() => core.turns.length).toBe(2);
  const placeOf = ({ message_id }: { message_id: number }) => `${dir}/photos/${from.id}_${message_id}.jpg`;
  expect([readFileSync(placeOf(small)).length, readFileSync(placeOf(large)).length]).toEqual([5 * 2 ** 20, 5 * 2 ** 20 + 1]);
  expect(saved.map(({ bytes, mime }) => [bytes, mime])).toEqual([[5 * 2 ** 20, 'image/jpeg']]);
  expect(texts(channel)).toEqual(['small', `large\n[Photo of 5 MB, saved as ${placeOf(large)}]`]);
});

test('transcribes voice messages, and attaches the clip when that fails', async () => {
  const failing = Promise.reject(
    new ServiceError('unavailable', 'nothing can transcribe', { details: { reason: 'no_provider' } }),
  );
  failing.catch(() => undefined);
  const answers = [Promise.resolve({ text: 'good morning' }), failing];
  const speech = { speak: async () => Promise.reject(new Error('unused')), transcribe: async () => answers.shift() as never };
  const channel = await openMessenger({ context: { speech } });
  quiet(channel);
  const from = channel.server.person('Ann');
  channel.server.sendVoice({ from, bytes: Buffer.from('one'), duration: 4 });
  channel.server.sendVideoNote({ from, bytes: Buffer.from('two'), duration: 5 });
  await expect
    .poll(() => texts(channel))
    .toEqual(['[Voice message, 4 s] good morning', '[Video message, 5 s; it could not be transcribed: nothing can transcribe]']);
  expect(channel.saved.map(({ content }) => content.toString())).toEqual(['two']);
});

test('reports a file that is too large for bots or no longer available', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server } = channel;
  const from = server.person('Ann');
  server.sendDocument({ from, name: 'film.mkv', size: 30 * 2 ** 20, caption: 'see' });
  server.send({ from, content: { document: { file_id: 'gone', file_unique_id: 'x', file_name: 'gone.txt' } } });
  await expect.poll(() => texts(channel).length).toBe(2);
  const [large, gone] = texts(channel);
  expect(large).toBe('see\n[Sent file: File "film.mkv" of 30 MB: not accepted, because files may have at most 20 MB]');
  expect(gone).toMatch(/^\[Sent file: File "gone.txt": not accepted, because Telegram answered 400/);
});

test('does not download files of an unknown sender', async () => {
  const channel = await openMessenger();
  quiet(channel);
  knowsNobody(channel);
  const { server, core, saved } = channel;
  server.sendDocument({ from: server.person('Eve'), name: 'x', bytes: Buffer.from('x'), caption: 'take this' });
  await expect.poll(() => core.turns.length).toBe(1);
  expect([texts(channel), saved]).toEqual([['take this'], []]);
  expect(server.calls.map(({ method }) => method)).not.toContain('getFile');
});

test('in a group, tells whether a message mentions the bot, and has a conversation for each topic', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server, core } = channel;
  const [ann, bob] = [server.person('Ann'), server.person('Bob')];
  const group = server.supergroup('House', [ann, bob], true);
  const topic = server.openTopic(group.id, ann, 'Garden');
  server.say({ from: ann, chat: group.id, text: 'one' });
  server.say({ from: bob, chat: group.id, text: `@${server.bot.user.username} two` });
  server.say({ from: bob, chat: group.id, text: `@${server.bot.user.username}` });
  server.say({ from: bob, chat: group.id, thread: topic, text: `/status@${server.bot.user.username.toUpperCase()} now` });
  await expect.poll(() => core.turns.length).toBe(4);
  const facts = core.turns.map(({ envelope: { conversation_key, sender, mentioned, content, channel_context } }) => [
    conversation_key,
    sender.raw_id,
    mentioned,
    content.text,
    channel_context?.['chatId'],
  ]);
  const key = `messenger:inst_1:channel:${group.id}`;
  expect(facts.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
    [key, String(ann.id), false, 'one', String(group.id)],
    [key, String(bob.id), true, `@${server.bot.user.username}`, String(group.id)],
    [key, String(bob.id), true, 'two', String(group.id)],
    [`${key}:${topic}`, String(bob.id), true, '/status now', `${group.id}:${topic}`],
  ]);
});

test('messages of strangers in a group are public, and a chat as sender has no rights of a member', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server, core } = channel;
  const ann = server.person('Ann');
  const group = server.supergroup('House', [ann]);
  server.say({ from: ann, chat: group.id, text: 'known' });
  await expect.poll(() => core.turns.length).toBe(1);
  knowsNobody(channel);
  server.say({ from: ann, chat: group.id, text: 'unknown' });
  server.send({ from: ann, chat: group.id, content: { text: 'anonymous', sender_chat: group } });
  await expect.poll(() => core.turns.length).toBe(3);
  expect(core.turns.map(({ envelope }) => [envelope.sender.raw_id, envelope.public])).toEqual([
    [String(ann.id), undefined],
    [String(ann.id), true],
    [`chat:${group.id}`, true],
  ]);
});

test('forwards an edit after its message', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server, core } = channel;
  const from = server.person('Ann');
  const message = server.say({ from, text: 'one' });
  server.edit(message, 'two');
  await expect.poll(() => core.amendments.length).toBe(1);
  expect(core.amendments[0]).toMatchObject({
    conversation_key: `messenger:inst_1:user:${from.id}`,
    message_id: core.turns[0]?.envelope.message_id,
    text: 'two',
    as: { channel: 'messenger', sender: { raw_id: String(from.id) } },
  });
});

test('takes only what its author changed for an edit: Telegram reports reactions as edits too', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server, core } = channel;
  const message = server.say({ from: server.person('Ann'), text: 'one' });
  const reported = (body: object) => server.addUpdate('edited_message', body);
  const texts = () => core.amendments.map(({ text }) => text);
  reported(message);
  reported({ ...message, edit_date: message.date + 5 });
  const edited = server.edit(message, 'two');
  reported(edited);
  reported({ ...edited, edit_date: message.date + 10 });
  server.edit(message, 'three');
  server.edit(message, 'one');
  await expect.poll(texts).toEqual(['two', 'three', 'one']);
  const versions = core.amendments.map(({ version }) => version);
  expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
  await channel.restart();
  reported(message);
  server.edit(message, 'four');
  await expect.poll(() => channel.core.amendments.at(-1)?.text).toBe('four');
  expect(channel.core.amendments).toHaveLength(1);
});

test('a group that becomes a supergroup keeps its conversation, with different message ids', async () => {
  const channel = await openMessenger({ config: { allowed_chat_ids: [-400_002] } });
  quiet(channel);
  const { server, core } = channel;
  const ann = server.person('Ann');
  const group = server.group('House', [ann]);
  expect(group.id).toBe(-400_002);
  server.say({ from: ann, chat: group.id, text: 'before' });
  const next = server.migrate(group.id, ann);
  server.say({ from: ann, chat: next.id, text: 'after' });
  await expect.poll(() => core.turns.length).toBe(2);
  const [before, after] = core.turns.map(({ envelope }) => envelope);
  expect(after?.conversation_key).toBe(before?.conversation_key);
  expect(after?.channel_context).toEqual({ chatId: String(next.id) });
  expect(after?.message_id).not.toBe(before?.message_id);
});

test('denies chats that are not allowed, with a limited number of replies', async () => {
  const channel = await openMessenger({ config: { allowed_chat_ids: [1] } });
  const { server, core } = channel;
  const eve = server.person('Eve');
  for (const text of ['1', '2', '3', '4', '5', '6']) server.say({ from: eve, text });
  await expect.poll(() => server.pendingUpdates()).toEqual([]);
  expect(channel.shown(eve.id)).toEqual(['Access denied.', 'Access denied.', 'Access denied.']);
  expect(core.turns).toEqual([]);
});

test('denies access in the topic in which someone asked', async () => {
  const channel = await openMessenger({ config: { allowed_chat_ids: [1] } });
  const { server } = channel;
  const eve = server.person('Eve');
  const group = server.supergroup('House', [eve], true);
  const topic = server.openTopic(group.id, eve, 'Garden');
  server.say({ from: eve, chat: group.id, thread: topic, text: `@${server.bot.user.username} hello` });
  await expect.poll(() => channel.shown(group.id)).toEqual(['Access denied.']);
  expect(server.calls.find(({ method }) => method === 'sendMessage')?.params).toMatchObject({ message_thread_id: topic });
});

test('admits only the first chat that writes while no one is known, and every known person afterwards', async () => {
  const channel = await openMessenger();
  const { server, core } = channel;
  quiet(channel);
  knowsNobody(channel);
  const [ann, eve] = [server.person('Ann'), server.person('Eve')];
  server.say({ from: ann, text: 'one' });
  await expect.poll(() => texts(channel)).toEqual(['one']);
  server.say({ from: eve, text: 'two' });
  await expect.poll(() => channel.shown(eve.id)).toEqual(['Access denied.']);
  expect(core.turns).toHaveLength(1);
  expect(channel.logs.join()).toContain('the first chat that wrote was learned');
  const { resolve } = core;
  core.resolve = async (envelope) => ({ ...(await resolve(envelope)), principal_id: 'prn_2' });
  server.say({ from: ann, text: 'three' });
  await expect.poll(() => texts(channel)).toEqual(['one', 'three']);
  core.resolve = resolve;
  server.say({ from: eve, text: 'four' });
  await expect.poll(() => texts(channel)).toEqual(['one', 'three', 'four']);
});

test('the link of an invitation passes its code to the core from any chat, and admits no chat by itself', async () => {
  const channel = await openMessenger();
  const { server } = channel;
  quiet(channel);
  knowsNobody(channel);
  const [ann, eve, tom] = [server.person('Ann'), server.person('Eve'), server.person('Tom')];
  const link = channel.live().inviteLink?.replace('{code}', 'ABCD-EFGH-JKMN') ?? '';
  expect(link).toBe(`https://t.me/${server.bot.user.username}?start=ABCD-EFGH-JKMN`);
  const said = `/start ${new URL(link).searchParams.get('start')}`;
  server.say({ from: tom, text: said });
  server.say({ from: eve, text: 'first' });
  server.say({ from: ann, text: said });
  server.say({ from: ann, text: 'ABCD EFGH JKMN' });
  server.say({ from: ann, text: '/start pair' });
  await expect.poll(() => channel.shown(ann.id)).toEqual(['Access denied.']);
  expect(texts(channel).toSorted()).toEqual([said, said, 'ABCD EFGH JKMN', 'first']);
});

test('an invitation admits no chat outside allowed_chat_ids and no group', async () => {
  const channel = await openMessenger();
  const { server } = channel;
  quiet(channel);
  knowsNobody(channel);
  const [ann, eve] = [server.person('Ann'), server.person('Eve')];
  server.say({ from: eve, text: 'learned' });
  const group = server.supergroup('House', [ann]);
  server.say({ from: ann, chat: group.id, text: `/start@${server.bot.user.username} ABCD-EFGH-JKMN` });
  await expect.poll(() => channel.shown(group.id)).toEqual(['Access denied.']);
  const closed = await openMessenger({ config: { allowed_chat_ids: [1] } });
  const tom = closed.server.person('Tom');
  closed.server.say({ from: tom, text: '/start ABCD-EFGH-JKMN' });
  await expect.poll(() => closed.shown(tom.id)).toEqual(['Access denied.']);
});

test('an edited caption keeps the transcript of the message', async () => {
  let heard = 0;
  const transcribe = async () => (heard++, { text: 'good morning' }) as never;
  const speech = { speak: async () => Promise.reject(new Error('unused')), transcribe };
  const channel = await openMessenger({ context: { speech } });
  quiet(channel);
  const { server, core } = channel;
  const from = server.person('Ann');
  const message = server.sendVoice({ from, bytes: Buffer.from('one'), duration: 4, caption: 'for you' });
  await expect.poll(() => texts(channel)).toEqual(['for you\n[Voice message, 4 s] good morning']);
  server.edit(message, 'for all');
  const edits = () => core.amendments.map(({ text }) => text);
  await expect.poll(edits).toEqual(['for all\n[Voice message, 4 s] good morning']);
  expect(heard).toBe(1);
});

test('marks the text of a reply to the bot as its answer, but not of a reply to others', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server, core } = channel;
  const [ann, bob] = [server.person('Ann'), server.person('Bob')];
  const group = server.supergroup('House', [ann, bob]);
  const asked = server.say({ from: server.bot.user, chat: group.id, text: 'Really?' });
  const said = server.say({ from: bob, chat: group.id, text: 'Shall we?' });
  server.say({ from: ann, chat: group.id, text: `@${server.bot.user.username} 1`, replyTo: asked.message_id });
  server.say({ from: ann, chat: group.id, text: '2', replyTo: said.message_id });
  await expect.poll(() => core.turns.length).toBe(3);
  expect(core.turns.map(({ envelope }) => envelope.content.said)).toEqual([undefined, '1', undefined]);
});
