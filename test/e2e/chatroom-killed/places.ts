import type { DiscordServer } from '@svc/testing/discord-server/index.ts';
import type { DiscordUser } from '@svc/testing/discord-server/api-types.ts';
import type { Channel } from '@svc/testing/discord-server/model.ts';
import { short, type Platform } from '../killed-chat/find-broken.ts';
import type { Question } from '../killed-chat/start-asking.ts';

/** Where people talk with the bot: in private, in a channel of a guild, a thread or a forum post. */
export type DiscordPlace = { channel: Channel; members: DiscordUser[] };

/** Of ten places six are private, two channels, one is a thread and one a post. */
export function openPlaces(server: DiscordServer, count: number): DiscordPlace[] {
  const people = Array.from({ length: count }, (_, n) => server.person(`Ann ${n}`));
  const bob = server.person('Bob');
  const guild = server.guild('Work', [bob, ...people]);
  const general = server.channel(guild, 'general');
  const forum = server.channel(guild, 'help', { kind: 'forum' });
  return people.map((ann, n): DiscordPlace => {
    const members = [ann, bob];
    if (n % 10 === 2 || n % 10 === 4) return { channel: server.channel(guild, `channel-${n}`), members };
    if (n % 10 === 7) return { channel: server.openThread(general, ann, `Thread ${n}`), members };
    if (n % 10 === 9) return { channel: server.post(forum, ann, `Post ${n}`, 'What we know').thread, members };
    return { channel: server.dm(ann), members: [ann] };
  });
}

/** A member of a place asks. */
export function ask(
  server: DiscordServer,
  random: () => number,
  { channel, members }: DiscordPlace,
  question: Question,
): string[] {
  const { name, words, files } = question;
  const from = members[Math.floor(random() * members.length)] as DiscordUser;
  const text = `${channel.guild === null ? '' : `<@${server.bot.user.id}> `}[${name}] ${words}`;
  const sent = Array.from({ length: files }, (_, n) => ({
    name: `${n}.txt`,
    mime: 'text/plain',
    bytes: Buffer.from(`file ${n}`),
  }));
  return [server.say({ from, channel, text, files: sent }).id];
}

/** Discord as `findBroken` sees it. A nonce prevents duplicates, so no duplicate message is excused. */
export const seenOf = (server: DiscordServer): Platform<DiscordPlace> => ({
  replies: ({ channel }) => server.replies(channel),
  nameOf: ({ channel }) => channel.id,
  isUnavoidable: () => false,
  timeline: ({ channel }) => timeline(server, channel.id),
});

const lastCalls = 60;

function timeline({ calls }: DiscordServer, channel: string): string {
  const own = calls.filter(
    ({ at, operation }) => Object.values(at).includes(channel) && operation !== 'trigger_typing_indicator',
  );
  const line = ({ time, operation, body, status, code, made, isAnswered: heard }: (typeof own)[number]): string => {
    const { content, message_reference: reply, nonce } = (body ?? {}) as Record<string, unknown>;
    const about = [
      content === undefined ? '' : short(String(content)),
      reply === undefined ? '' : JSON.stringify(reply),
      nonce ?? '',
    ];
    return `${(time / 1000).toFixed(1)} ${operation} ${about.join(' ')} → ${status ?? 'cut'} ${code ?? made.join(',')}${heard ? '' : ' (not heard)'}`;
  };
  return [`the last requests about ${channel}:`, ...own.slice(-lastCalls).map(line)].join('\n');
}
