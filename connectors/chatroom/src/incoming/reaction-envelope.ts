import { channelKey, type Envelope } from '@svc/connector-kit';
import type { GatewayMessageReactionAddDispatchData } from 'discord-api-types/v10';
import { channelLine } from '@svc/connector-kit/channel-line.ts';
import { oneLine } from '@svc/connector-kit/one-line.ts';
import { meta } from '../meta.ts';
import { personOf } from './sender-of.ts';
import { isOpen, type EnvelopeDeps } from './to-envelope.ts';

/** A person's reaction to a message of the assistant, as an envelope that is only read; null for any other reaction. */
export async function toReactionEnvelope(
  deps: EnvelopeDeps,
  reaction: GatewayMessageReactionAddDispatchData,
  id: string,
  signal: AbortSignal,
): Promise<Envelope | null> {
  const { bot, rooms, instanceId, dmAllowed, findSpeaker } = deps;
  const { user_id, channel_id, guild_id, message_author_id, member, emoji } = reaction;
  if (message_author_id !== bot.id || user_id === bot.id || member?.user.bot === true) return null;
  const room = guild_id === undefined ? null : await rooms.find(channel_id);
  if (guild_id === undefined ? dmAllowed !== '' && user_id !== dmAllowed : room === null || !isOpen(deps, room)) return null;
  const isPublic = room !== null && (await rooms.guild(room.guildId, signal)).isPublic;
  const place = { conversation_key: channelKey(meta.type, instanceId, channel_id), ...(isPublic && { public: true }) };
  const own = personOf({ id: user_id, username: member?.user.username ?? 'nameless' });
  const { sender, identity } = await findSpeaker(own, member?.roles ?? [], place);
  if (identity.denied) return null;
  return {
    ...place,
    channel: meta.type,
    message_id: id,
    sender,
    content: { text: channelLine('Reacted with', ` ${oneLine(emoji.name ?? 'an emoji', 64)} to your message`) },
    delivery: 'async',
    mentioned: false,
    capabilities: meta.capabilities,
    channel_context: { channelId: channel_id },
  };
}
