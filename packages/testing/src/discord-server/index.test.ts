import { AttachmentBuilder, type SendableChannels } from 'discord.js';
import { describe, expect, test } from 'vitest';
import { refusalOf, useDiscordTrial } from './use-discord-trial.ts';
import { viewMessage } from './view-channel.ts';

const trial = useDiscordTrial();
const general = async () => (await trial.client.channels.fetch(trial.general.id)) as SendableChannels;
const texts = () => trial.server.messages(trial.general).map(({ text, isDeleted }) => (isDeleted ? `(${text})` : text));

describe('messages', () => {
  test('from people have their author and their mentions', async () => {
    const { server, ann, general } = trial;
    server.say({ from: ann, channel: general, text: `<@${server.bot.user.id}> hello` });
    server.say({ from: ann, channel: server.dm(ann), text: 'psst' });
    await expect.poll(() => trial.heard.map(({ content }) => content)).toEqual([`<@${server.bot.user.id}> hello`, 'psst']);
    const [first, second] = trial.heard;
    expect(first?.mentions.users.has(server.bot.user.id)).toBe(true);
    expect([first?.guild?.name, first?.member?.user.username, first?.author.displayName]).toEqual(['Work', 'ann', 'Ann']);
    expect([second?.guild, second?.channel.isDMBased()]).toEqual([null, true]);
  });

  test('from the bot are sent, edited and deleted', async () => {
    const message = await (await general()).send('working');
    await message.edit('partial **text**');
    expect(trial.server.replies(trial.general)).toMatchObject([{ text: 'partial **text**', before: ['working'] }]);
    await message.delete();
    expect(texts()).toEqual(['(partial **text**)']);
    expect(await refusalOf(message.edit('late'))).toBe('404 10008');
  });

  test('reply to others, and notify only the allowed mentions', async () => {
    const { server, ann } = trial;
    const asked = server.say({ from: ann, channel: trial.general, text: 'hello?' });
    const channel = await general();
    const reply = { messageReference: asked.id, failIfNotExists: true };
    const text = `<@${ann.id}> @everyone`;
    await channel.send({ content: text, reply, allowedMentions: { parse: [], repliedUser: false } });
    await channel.send({ content: text, reply });
    expect(server.replies(trial.general)).toMatchObject([
      { replyTo: asked.id, pings: [] },
      { replyTo: asked.id, pings: ['@everyone', 'ann'] },
    ]);
    server.remove(asked);
    expect(await refusalOf(channel.send({ content: 'late', reply }))).toBe('400 50035');
    expect(await refusalOf(channel.send({ content: 'late', reply: { ...reply, failIfNotExists: false } }))).toBe(null);
  });

  test('with an enforced nonce are created once', async () => {
    const channel = await general();
    const once = () => channel.send({ content: 'once', nonce: 'turn-1/0', enforceNonce: true });
    const [first, second] = [await once(), await once()];
    expect([first.id, texts()]).toEqual([second.id, ['once']]);
    await channel.send({ content: 'twice', nonce: 'n' });
    await channel.send({ content: 'twice', nonce: 'n' });
    expect(texts()).toEqual(['once', 'twice', 'twice']);
  });

  test('are rejected when too long, empty, or edited by another', async () => {
    const channel = await general();
    expect(await refusalOf(channel.send('x'.repeat(2001)))).toBe('400 50035');
    expect(await refusalOf(channel.send({ content: ' \n ' }))).toBe('400 50006');
    const theirs = trial.server.say({ from: trial.ann, channel: trial.general, text: 'mine' });
    expect(await refusalOf(channel.messages.edit(theirs.id, 'ours'))).toBe('403 50005');
    await channel.send(`${'x'.repeat(2000)}  `);
    expect(texts().at(-1)).toHaveLength(2000);
  });

  test('are listed after a known one', async () => {
    const { server, ann } = trial;
    const said = ['1', '2', '3', '4'].map((text) => server.say({ from: ann, channel: trial.general, text }));
    const channel = await general();
    const after = await channel.messages.fetch({ after: said[0]?.id ?? '', limit: 2 });
    expect(after.map(({ content }) => content)).toEqual(['3', '2']);
    const last = await channel.messages.fetch({ limit: 2 });
    expect(last.map(({ content }) => content)).toEqual(['4', '3']);
  });

  test('send events to the bot when they change, are deleted or get reactions', async () => {
    const { server, ann, client } = trial;
    const events: string[] = [];
    client.on('messageUpdate', (_, { content }) => void events.push(`edit ${content}`));
    client.on('messageDelete', ({ id }) => void events.push(`delete ${id}`));
    client.on('messageReactionAdd', ({ emoji }, user) => void events.push(`${emoji.name} ${user.id}`));
    client.on('messageReactionRemove', ({ emoji }) => void events.push(`no ${emoji.name}`));
    client.on('typingStart', ({ user }) => void events.push(`typing ${user.id}`));
    server.type(trial.general, ann);
    const message = server.say({ from: ann, channel: trial.general, text: 'a' });
    server.edit(message, 'b');
    server.react(message, ann, '👍');
    server.unreact(message, ann, '👍');
    server.remove(message);
    const expected = [`typing ${ann.id}`, 'edit b', `👍 ${ann.id}`, 'no 👍', `delete ${message.id}`];
    await expect.poll(() => events).toEqual(expected);
  });

  test('accept reactions of the bot, and channels show its typing', async () => {
    const message = trial.server.say({ from: trial.ann, channel: trial.general, text: 'a' });
    const channel = await general();
    await channel.sendTyping();
    const seen = await channel.messages.fetch(message.id);
    await seen.react('👀');
    expect([viewMessage(message).reactions, trial.general.typings]).toEqual([['👀 test_bot'], [trial.server.bot.user]]);
    await seen.reactions.cache.get('👀')?.users.remove();
    expect(viewMessage(message).reactions).toEqual([]);
    expect(await refusalOf(seen.react('no emoji'))).toBe('400 10014');
  });
});

describe('files', () => {
  test('are received and sent, with signed URLs', async () => {
    const { server, ann } = trial;
    server.say({
      from: ann,
      channel: trial.general,
      files: [{ name: 'a b.txt', mime: 'text/plain', bytes: Buffer.from('hello') }],
    });
    await expect.poll(() => trial.heard.length).toBe(1);
    const url = trial.heard[0]?.attachments.first()?.url ?? '';
    expect(await (await fetch(url)).text()).toBe('hello');
    expect((await fetch(url.replace(/\?.*/, ''))).status).toBe(404);
    const file = new AttachmentBuilder(Buffer.from('answer'), { name: 'answer.txt', description: 'what I found' });
    await (await general()).send({ content: 'see', files: [file] });
    const [reply] = server.replies(trial.general);
    expect(reply?.files).toMatchObject([{ name: 'answer.txt', size: 6 }]);
    expect(await (await fetch(reply?.files[0]?.url ?? '')).text()).toBe('answer');
  });

  test('are rejected over the size limit', async () => {
    await trial.open({ maxFileBytes: 10 });
    const file = new AttachmentBuilder(Buffer.alloc(11), { name: 'large.bin' });
    expect(await refusalOf((await general()).send({ files: [file] }))).toBe('413 40005');
  });
});

describe('API requests', () => {
  test('are reported if they are outside the API description, and rejected except for unknown fields', async () => {
    const post = (body: object, route = `/channels/${trial.general.id}/messages`) =>
      fetch(`${trial.server.apiUrl}/v10${route}`, {
        method: 'POST',
        headers: { authorization: `Bot ${trial.server.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).then(({ status }) => status);
    const answers = [await post({ contents: 'x', content: 'y' }), await post({ content: 5 }), await post({}, '/nowhere')];
    expect([answers, trial.server.violations.splice(0)]).toEqual([
      [200, 400, 404],
      ['create_message unknown: /contents', 'create_message /content must be string,null', 'no route POST /nowhere'],
    ]);
  });

  test('are rejected with a wrong token', async () => {
    const response = await fetch(`${trial.server.apiUrl}/v10/users/@me`, { headers: { authorization: 'Bot wrong' } });
    expect(response.status).toBe(401);
  });
});
