import path from 'node:path';
import type { ConnectorState } from '@svc/connector-kit';
import { createFileState } from '@svc/connector-kit/state/file-state.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { expect, onTestFinished, test } from 'vitest';
import { answeredOf, openWork, textsOf } from './open-work.ts';

test('answers a private message in a conversation of its channel', async () => {
  const house = await openWork();
  const dm = house.server.dm(house.ann);
  const said = house.say('hello', { channel: dm });
  await expect.poll(() => house.shown(dm)).toEqual(['echo: hello']);
  expect(house.core.turns[0]?.envelope).toMatchObject({
    channel: 'chatroom',
    conversation_key: `chatroom:inst_1:channel:${dm.id}`,
    message_id: said.id,
    sender: { raw_id: house.ann.id, raw_username: 'ann' },
    channel_context: { channelId: dm.id },
  });
});

test('keeps the order of the first messages of a private chat while its channel is being stored', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = createFileState(path.join(folder.path, 'slow.jsonl'), () => undefined);
  const slow: ConnectorState = {
    ...file,
    async set(key, value) {
      if (key === 'direct-channels') await new Promise((resolve) => setTimeout(resolve, 300));
      await file.set(key, value);
    },
  };
  const house = await openWork({ context: { state: slow } });
  const dm = house.server.dm(house.ann);
  house.say('one', { channel: dm });
  house.say('two', { channel: dm });
  await expect.poll(() => house.taken().length).toBe(2);
  expect(house.taken().map(({ text }) => text)).toEqual(['one', 'two']);
});

test('in a channel, answers mentions of the bot and replies to it, and only reads other messages', async () => {
  const house = await openWork();
  const { server, general, me, shown, say } = house;
  say(`${me} hello`);
  await expect.poll(() => shown()).toEqual(['echo: hello']);
  const [reply] = server.replies(general);
  say('to the others');
  say('and you?', { replyTo: general.messages.get(reply?.id ?? '') });
  await expect.poll(() => house.taken().length).toBe(3);
  expect(house.taken()).toEqual([
    { text: 'hello', delivery: 'sync' },
    { text: 'to the others', delivery: 'async' },
    { text: '[In answer to your message: "echo: hello"]\nand you?', delivery: 'sync' },
  ]);
});

test('threads and forum posts have a conversation each', async () => {
  const house = await openWork();
  const { server, guild, general, ann, me, say, shown } = house;
  const thread = server.openThread(general, ann, 'aside');
  say(`${me} in the thread`, { channel: thread });
  await expect.poll(() => shown(thread)).toEqual(['echo: in the thread']);
  const forum = server.channel(guild, 'questions', { kind: 'forum' });
  const { thread: post } = server.post(forum, ann, 'how?', `${me} how does it work?`);
  await expect.poll(() => shown(post)).toEqual(['echo: how does it work?']);
  const keys = house.core.turns.map(({ envelope }) => envelope.conversation_key);
  expect(keys).toEqual([thread, post].map(({ id }) => `chatroom:inst_1:channel:${id}`));
});

test('replaces ids by names and reads embeds as text', async () => {
  const house = await openWork();
  const { server, guild, general, ann, me, say } = house;
  const bob = server.person('Bob');
  server.join(guild, bob);
  const role = server.role(guild, 'helpers', [ann]);
  await house.restart(); // fetches what it knows about the server
  say(`${me} ask <@${bob.id}> or <@&${role.id}> in <#${general.id}> <:ok:123456789012345678> at <t:0:R>`, {
    embeds: [{ type: 'rich', title: 'News', description: 'of today' }],
  });
  await expect
    .poll(() => textsOf(house))
    .toEqual(['[Sent embed: News | of today]\nask @bob or @helpers in #general :ok: at 1970-01-01T00:00:00Z']);
});

test('forwards files in the order in which they were attached', async () => {
  const house = await openWork();
  house.say(`${house.me} look`, {
    files: [
      { name: 'a.txt', bytes: Buffer.from('first') },
      { name: 'b.txt', bytes: Buffer.from('second') },
    ],
  });
  await expect.poll(() => house.core.turns.length).toBe(1);
  expect(house.core.turns[0]?.envelope.content.attachments?.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
  expect(house.saved.map(({ content }) => content.toString())).toEqual(['first', 'second']);
});

test('forwards an edit and a deletion after the message, and does not take a link preview for an edit', async () => {
  const house = await openWork();
  const { server, me, say } = house;
  const said = say(`${me} helo`);
  await expect.poll(() => house.core.turns.length).toBe(1);
  server.addEmbed(said, { title: 'a preview' });
  server.edit(said, `${me} hello`);
  server.remove(said);
  await expect.poll(() => house.core.amendments.map(({ text }) => text)).toEqual(['[Sent embed: a preview]\nhello', null]);
  const [edit, deletion] = house.core.amendments;
  expect(edit).toMatchObject({ message_id: said.id, as: { channel: 'chatroom', sender: { raw_id: house.ann.id } } });
  expect(deletion?.version).toBeGreaterThan(edit?.version ?? Infinity);
});

test('the edit of an old message is not marked as late', async () => {
  const clock = { ...systemClock, now: () => Date.now() - 10 * 60_000 };
  const house = await openWork({ server: { clock } });
  const { server, me, say } = house;
  const said = say(`${me} helo`);
  await expect.poll(() => textsOf(house)).toEqual(['[Written 10 minutes ago, while you were away]\nhelo']);
  server.edit(said, `${me} hello`);
  await expect.poll(() => house.core.amendments.map(({ text }) => text)).toEqual(['hello']);
});

test('a reaction to an answer is read', async () => {
  const house = await openWork();
  const { server, general, ann, me, say, shown } = house;
  say(`${me} hello`);
  await expect.poll(() => shown()).toEqual(['echo: hello']);
  const [reply] = [...general.messages.values()].filter(({ author }) => author.bot);
  if (reply !== undefined) server.react(reply, ann, '👍');
  await expect.poll(() => house.taken().at(-1)).toEqual({ text: '[Reacted with 👍 to your message]', delivery: 'async' });
});

test('dm_allowed_user_id denies private messages of everyone else, with a limited number of replies', async () => {
  const house = await openWork({ config: { dm_allowed_user_id: '111111111111111111' } });
  const dm = house.server.dm(house.ann);
  for (let n = 0; n < 5; n++) house.say('let me in', { channel: dm });
  await expect.poll(() => house.shown(dm)).toEqual(['Access denied.', 'Access denied.', 'Access denied.']);
  expect(house.core.turns).toEqual([]);
});

const stranger = { principal_id: null, denied: true, denial: 'unknown_sender' } as Partial<Identity>;

test('does not read unknown senders in a channel, and treats a mention by one of them as public', async () => {
  const house = await openWork();
  const { me, say } = house;
  const known = await house.core.resolve({ channel: 'chatroom', sender: { raw_id: '1' }, conversation_key: 'x' });
  house.core.resolve = async () => ({ ...known, ...stranger });
  say('to the others');
  say(`${me} hello`);
  await expect
    .poll(() => house.core.turns.map(({ envelope }) => [envelope.content.text, envelope.public]))
    .toEqual([['hello', true]]);
});

test('a role of the server admits an otherwise unknown sender, as that role', async () => {
  const house = await openWork();
  const { server, guild, ann, me, say } = house;
  const role = server.role(guild, 'helpers', [ann]);
  const known = await house.core.resolve({ channel: 'chatroom', sender: { raw_id: '1' }, conversation_key: 'x' });
  house.core.resolve = async ({ sender }) => (sender.raw_id === `role:${role.id}` ? known : { ...known, ...stranger });
  const said = say(`${me} hello`);
  await expect.poll(() => textsOf(house)).toEqual(['[Written by ann]\nhello']);
  expect(house.core.turns[0]?.envelope.sender).toMatchObject({ raw_id: `role:${role.id}`, raw_username: 'ann' });
  server.edit(said, `${me} hello all`);
  await expect.poll(() => house.core.amendments.map(({ text }) => text)).toEqual(['[Written by ann]\nhello all']);
  server.takeRole(guild, role, ann);
  server.edit(said, `${me} delete everything`);
  await expect.poll(() => house.core.amendments.map(({ as }) => as.sender.raw_id)).toEqual([`role:${role.id}`, ann.id]);
});

test('an autonomous channel starts a turn without a mention only when triage says so, up to the limit per hour', async () => {
  const asked: string[] = [];
  const house = await openWork({
    context: {
      async triage({ text }) {
        asked.push(text);
        return { speak: text.endsWith('?') };
      },
    },
    config: { channel_mode: 'autonomous', autonomous_per_hour: 1 },
  });
  const { say } = house;
  say('nice weather');
  say('does anybody know what 6 times 7 is?');
  say('and 7 times 8?');
  await expect.poll(() => house.taken().map(({ delivery }) => delivery)).toEqual(['async', 'sync', 'async']);
  expect(asked).toEqual(['ann: nice weather', 'ann: nice weather\nann: does anybody know what 6 times 7 is?']);
  expect(house.core.turns[1]?.envelope.content.system).toContain('[[NO_REPLY]]');
});

test('messages of a quiet channel are read and not answered', async () => {
  const house = await openWork({ config: { channel_mode: 'quiet' } });
  house.say(`${house.me} hello`);
  await expect.poll(() => house.taken()).toEqual([{ text: 'hello', delivery: 'async' }]);
});

test('answers mentions by another bot until a person stops it, and again after the next message to this bot', async () => {
  const house = await openWork();
  const { server, guild, me, say } = house;
  const other = server.person('Other', { bot: true });
  server.join(guild, other);
  const aborted: string[] = [];
  house.core.sessions.abort = async (_, key) => void aborted.push(key);
  say(`${me} first`, { from: other });
  await expect.poll(() => answeredOf(house)).toEqual(['first']);
  expect(house.core.turns[0]?.envelope.sender.is_bot).toBe(true);
  say('stop');
  await expect.poll(() => aborted.length).toBe(1);
  say(`${me} second`, { from: other });
  say(`${me} go on`);
  say(`${me} third`, { from: other });
  await expect.poll(() => answeredOf(house)).toEqual(['first', 'go on', 'third']);
});

test('with a moderator, answers no other bot than the moderator', async () => {
  const house = await openWork({ config: { moderator_user_id: '222222222222222222' } });
  const { server, guild, me, say } = house;
  const bots = [server.person('Mod', { bot: true, id: '222222222222222222' }), server.person('Other', { bot: true })];
  for (const bot of bots) server.join(guild, bot);
  for (const bot of bots.toReversed()) say(`${me} from ${bot.username}`, { from: bot });
  await expect
    .poll(() => house.taken())
    .toEqual([
      { text: 'from other', delivery: 'async' },
      { text: 'from mod', delivery: 'sync' },
    ]);
});
