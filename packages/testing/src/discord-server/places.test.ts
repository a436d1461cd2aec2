import { ChannelType, type ForumChannel, type TextChannel } from 'discord.js';
import { describe, expect, test } from 'vitest';
import { refusalOf, useDiscordTrial } from './use-discord-trial.ts';

const trial = useDiscordTrial();
const channelOf = async <T>(id: string): Promise<T> => (await trial.client.channels.fetch(id)) as T;

describe('threads', () => {
  test('accept messages from people and the bot', async () => {
    const { server, ann } = trial;
    const thread = server.openThread(
      trial.general,
      ann,
      'plans',
      server.say({ from: ann, channel: trial.general, text: 'plan?' }),
    );
    server.say({ from: ann, channel: thread, text: 'which?' });
    await expect
      .poll(() => trial.heard.map(({ content, channel }) => [content, channel.isThread()]))
      .toEqual([
        ['plan?', false],
        ['which?', true],
      ]);
    const general = await channelOf<TextChannel>(trial.general.id);
    const own = await general.threads.create({ name: 'mine', startMessage: await general.send('see below') });
    await own.send('below');
    const active = await general.threads.fetchActive();
    expect(active.threads.map(({ name }) => name)).toEqual(['plans', 'mine']);
  });

  test('are unarchived when the bot writes, unless locked', async () => {
    const { server, ann } = trial;
    const thread = server.openThread(trial.general, ann, 'old');
    const own = await channelOf<TextChannel>(thread.id);
    server.archive(thread);
    await own.send('again');
    expect(thread.isArchived).toBe(false);
    server.archive(thread, true);
    expect(await refusalOf(own.send('late'))).toBe('400 50083');
  });

  test('in a forum are posts, whose first message has the id of the thread', async () => {
    const { server, ann } = trial;
    const forum = server.channel(trial.guild, 'help', { kind: 'forum' });
    const tag = server.tag(forum, 'bug');
    const { thread, message } = server.post(forum, ann, 'It breaks', 'How do I …', [tag]);
    expect(message.id).toBe(thread.id);
    await expect.poll(() => trial.heard.map(({ content }) => content)).toEqual(['How do I …']);
    const seen = await channelOf<ForumChannel>(forum.id);
    expect([seen.type, seen.availableTags.map(({ name }) => name)]).toEqual([ChannelType.GuildForum, ['bug']]);
    const post = await seen.threads.create({ name: 'Notes', message: { content: 'first' } });
    expect((await post.fetchStarterMessage())?.content).toBe('first');
  });
});

describe('direct messages', () => {
  test('are opened by the bot, and rejected by a person who has disabled them', async () => {
    const { server, ann, client } = trial;
    const user = await client.users.fetch(ann.id);
    await user.send('hello');
    expect(server.replies(server.dm(ann))).toMatchObject([{ text: 'hello' }]);
    server.closeDms(ann);
    expect(await refusalOf(user.send('again'))).toBe('403 50007');
  });
});

describe('permissions', () => {
  test('follow roles and channels, and are enforced', async () => {
    const { server, client } = trial;
    const general = await channelOf<TextChannel>(trial.general.id);
    server.deny(trial.general, server.bot.user, 'ADD_REACTIONS', 'SEND_MESSAGES');
    expect(await refusalOf(general.send('x'))).toBe('403 50013');
    await expect.poll(() => general.permissionsFor(client.user?.id ?? '')?.has('SendMessages')).toBe(false);
    server.deny(trial.general, trial.guild.roles[0] as never, 'VIEW_CHANNEL');
    expect(await refusalOf(general.send('x'))).toBe('403 50001');
    server.say({ from: trial.ann, channel: trial.general, text: 'among us' });
    server.say({ from: trial.ann, channel: server.dm(trial.ann), text: 'end' });
    await expect.poll(() => trial.heard.map(({ content }) => content)).toEqual(['end']);
  });

  test('roles of members are in their messages', async () => {
    const { server, ann } = trial;
    const role = server.role(trial.guild, 'crew', [ann]);
    server.say({ from: ann, channel: trial.general, text: `<@&${role.id}>` });
    await expect.poll(() => trial.heard.length).toBe(1);
    expect(trial.heard[0]?.mentions.roles.has(role.id)).toBe(true);
    const member = await trial.client.guilds.cache.first()?.members.fetch({ user: ann.id, force: true });
    expect(member?.roles.cache.has(role.id)).toBe(true);
    server.takeRole(trial.guild, role, ann);
    expect(trial.guild.members.get(ann.id)?.roles).toEqual([]);
  });
});

test('the bot gets events for channels and guilds that are created, changed and removed', async () => {
  const { server, ann, client } = trial;
  const events: string[] = [];
  client.on('channelCreate', ({ name }) => void events.push(`channel ${name}`));
  client.on('channelUpdate', (_, channel) => void events.push(`now ${channel.isDMBased() ? '' : channel.name}`));
  client.on('channelDelete', (channel) => void events.push(`gone ${channel.isDMBased() ? '' : channel.name}`));
  client.on('guildCreate', ({ name }) => void events.push(`guild ${name}`));
  client.on('guildDelete', ({ name }) => void events.push(`no guild ${name}`));
  const channel = server.channel(trial.guild, 'news');
  server.rename(channel, 'olds');
  server.removeChannel(channel);
  const home = server.guild('Home', [ann], []);
  server.join(home, server.bot.user);
  server.leave(home, server.bot.user);
  await expect.poll(() => events).toEqual(['channel news', 'now olds', 'gone olds', 'guild Home', 'no guild Home']);
  expect(await refusalOf(client.channels.fetch(channel.id, { force: true }))).toBe('404 10003');
});

test('several bots share a channel and see each other', async () => {
  const { server } = trial;
  const other = server.addBot({ name: 'Other' });
  server.join(trial.guild, other.user);
  const second = await trial.connect(other.token);
  const heard: string[] = [];
  second.on('messageCreate', ({ author, content }) => void heard.push(`${author.username}: ${content}`));
  await (await channelOf<TextChannel>(trial.general.id)).send('first');
  await expect.poll(() => heard).toEqual(['test_bot: first']);
  await ((await second.channels.fetch(trial.general.id)) as TextChannel).send('second');
  await expect.poll(() => trial.heard.map(({ content, author }) => [content, author.bot])).toEqual([['second', true]]);
});
