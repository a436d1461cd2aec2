import { Client, GatewayIntentBits, Partials, type SendableChannels } from 'discord.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startCrablineDiscord, type CrablineDiscord } from './start-crabline-discord.ts';

const ann = { senderId: '200000000000000001', senderName: 'ann' };
let peer: CrablineDiscord;
let client: Client;
let resumed = 0;
const heard: string[] = [];

beforeEach(async () => {
  peer = await startCrablineDiscord();
  const { Guilds, GuildMessages, MessageContent } = GatewayIntentBits;
  client = new Client({
    intents: [Guilds, GuildMessages, MessageContent],
    partials: [Partials.Channel],
    rest: { api: peer.apiUrl, retries: 0 },
  });
  heard.length = 0;
  resumed = 0;
  client.on('messageCreate', ({ author, content }) => void (author.id === peer.manifest.botUserId || heard.push(content)));
  client.on('shardResume', () => void resumed++);
  const isReady = new Promise((resolve) => void client.once('clientReady', resolve));
  await client.login(peer.manifest.botToken);
  await isReady;
});
afterEach(async () => {
  await client.destroy();
  await peer.close();
  expect(peer.violations).toEqual([]);
});
const channel = async () => (await client.channels.fetch(peer.manifest.fixture.channelId)) as SendableChannels;

test('the real client library receives and answers', async () => {
  await peer.inject({ ...ann, content: `<@${peer.manifest.botUserId}> hello` });
  await expect.poll(() => heard).toEqual([`<@${peer.manifest.botUserId}> hello`]);
  const message = await (await channel()).send('working');
  expect((await message.edit('done')).content).toBe('done');
  const file = await (await channel()).send({ files: [{ attachment: Buffer.from('hello'), name: 'a.txt' }] });
  const url = file.attachments.first()?.url ?? '';
  expect([url.startsWith(peer.url), await (await fetch(url)).text()]).toEqual([true, 'hello']);
});

test('a dropped gateway connection is resumed', async () => {
  peer.dropGateway();
  await expect.poll(() => resumed).toBe(1);
  await peer.inject({ ...ann, content: 'after' });
  await expect.poll(() => heard).toEqual(['after']);
});

test('requests fail as the test asks', async () => {
  peer.failNext(/^create_message$/, 'cut before', 'cut after', { status: 502, when: 'after' });
  const outcomes: boolean[] = [];
  for (const text of ['1', '2', '3', '4'])
    outcomes.push(
      await (await channel()).send(text).then(
        () => true,
        () => false,
      ),
    );
  expect(outcomes).toEqual([false, false, false, true]);
  const there = await (await channel()).messages.fetch({ limit: 10 });
  expect(there.map(({ content }) => content).toSorted()).toEqual(['2', '3', '4']);
});

test('reports requests that the API description does not allow', async () => {
  await client.rest.post(`/channels/${peer.manifest.fixture.channelId}/messages`, { body: { content: 'x', parse_mod: 'HTML' } });
  expect(peer.violations.splice(0)).toEqual(['create_message unknown: /parse_mod']);
});
