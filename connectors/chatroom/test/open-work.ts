import { openChatroom, type ChatroomOptions, type OpenChatroom } from './open-chatroom.ts';

/** A server of Discord with one person and one channel, and the connector in it. */
export async function openWork(options: ChatroomOptions = {}) {
  const house = await openChatroom(options);
  const { server } = house;
  const ann = server.person('Ann');
  const guild = server.guild('Work', [ann]);
  const general = server.channel(guild, 'general');
  const me = `<@${server.bot.user.id}>`;
  const say = (text: string, more: Partial<Parameters<typeof server.say>[0]> = {}) =>
    server.say({ from: ann, channel: general, text, ...more });
  return Object.assign(house, {
    ann,
    guild,
    general,
    me,
    say,
    shown: (channel = general) => server.replies(channel).map(({ text }) => text),
  });
}

/** The texts that the core was given, and those that it was asked to answer. */
export const textsOf = (house: OpenChatroom): string[] => house.taken().map(({ text }) => text);
export const answeredOf = (house: OpenChatroom): string[] =>
  house.taken().flatMap(({ text, delivery }) => (delivery === 'sync' ? [text] : []));
