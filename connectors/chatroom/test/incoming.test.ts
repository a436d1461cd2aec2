import { expect, test } from 'vitest';
import { openChatroom } from './open-chatroom.ts';

/** A server of Discord with one person and one channel. */
async function openWork(options: Parameters<typeof openChatroom>[0] = {}) {
  const house = await openChatroom(options);
  const { server } = house;
  const ann = server.person('Ann');
  const guild = server.guild('Work', [ann]);
  const general = server.channel(guild, 'general');
  const me = `<@${server.bot.user.id}>`;
  return Object.assign(house, { ann, guild, general, me, shown: () => server.replies(general).map(({ text }) => text) });
}

test('a private message is answered, in a conversation of its channel', async () => {
  const house = await openWork();
  const dm = house.server.dm(house.ann);
  const said = house.server.say({ from: house.ann, channel: dm, text: 'hello' });
  await expect.poll(() => house.server.replies(dm).map(({ text }) => text)).toEqual(['echo: hello']);
  const [turn] = house.core.turns;
  expect(turn?.envelope).toMatchObject({
    channel: 'chatroom',
    conversation_key: `chatroom:inst_1:channel:${dm.id}`,
    message_id: said.id,
    sender: { raw_id: house.ann.id, raw_username: 'ann' },
    channel_context: { channelId: dm.id },
  });
});

test('in a channel what names the bot or answers it is answered, and all else is read', async () => {
  const { server, ann, general, me, shown, ...house } = await openWork();
  server.say({ from: ann, channel: general, text: `${me} hello` });
  await expect.poll(shown).toEqual(['echo: hello']);
  const [reply] = server.messages(general).filter(({ isBot }) => isBot);
  server.say({ from: ann, channel: general, text: 'to the others' });
  server.say({ from: ann, channel: general, text: 'and you?', replyTo: general.messages.get(reply?.id ?? '') });
  await expect.poll(() => shown().length).toBe(2);
  expect(house.taken()).toEqual([
    { text: 'hello', delivery: 'sync' },
    { text: 'to the others', delivery: 'async' },
    { text: '[In answer to your message: "echo: hello"]\nand you?', delivery: 'sync' },
  ]);
});
