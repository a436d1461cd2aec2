import { ServiceError, type ReplyPlatform } from '@svc/connector-kit';
import { MessageType, Routes, type APIMessage } from 'discord-api-types/v10';
import type { ChannelPlace } from './channel-place.ts';
import type { DiscordCall } from './discord-call.ts';
import type { SentMessages } from './sent-messages.ts';

export type FindLostDeps = {
  call: DiscordCall;
  place: ChannelPlace;
  sent: SentMessages;
  bot: { id: string };
  /** In a private chat, a reply may reference no message. */
  isPrivate(channel: string): boolean;
};

/** Discord's maximum for one request; after a longer absence, the message is posted again under the same nonce. */
const most = 100;

/**
 * Finds a message whose answer was lost, or that was posted by a process that was killed. Discord does not repeat a post with the same
 * nonce, but only for some minutes. After that, the lost message is the bot's own one that is not recorded as posted, because nothing else
 * is written to the channel meanwhile.
 */
export function createFindLost({ call, place, sent, bot, isPrivate }: FindLostDeps): NonNullable<ReplyPlatform['find']> {
  return async ({ chat, nonce, after, signal }) => {
    const channel = await place(chat, signal);
    const known = sent.latest(channel);
    const noted = known.find((each) => each.nonce === nonce);
    if (noted !== undefined) return noted.id;
    if (after === undefined) return null;
    const found = await readAfter(call, channel, after, signal);
    const ids = new Set(known.map(({ id }) => id));
    // The first part of a reply references the message that it answers; later parts reference none.
    const mayNameNone = ids.has(after) || isPrivate(channel);
    const isLost = ({ message_reference: about }: APIMessage) =>
      about?.message_id === undefined ? mayNameNone : about.message_id === after;
    const own = found.filter((message) => isOwnText(message, bot.id) && !ids.has(message.id));
    const lost = own.find((message) => message.nonce === nonce) ?? own.find(isLost);
    if (lost === undefined) return null;
    await sent.note(channel, lost.id, nonce);
    return lost.id;
  };
}

/** Oldest first. Without the permission to read the history, nothing can be found. */
async function readAfter(call: DiscordCall, channel: string, after: string, signal: AbortSignal): Promise<APIMessage[]> {
  try {
    const query = { after, limit: String(most) };
    return (await call<APIMessage[]>('GET', Routes.channelMessages(channel), { query }, signal)).toReversed();
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'forbidden' || error.code === 'unprocessable')) return [];
    throw error;
  }
}

/** Excludes answers to commands, pin notices and files, which are not the text of a reply. */
const isOwnText = ({ author, type, attachments, interaction_metadata: interaction }: APIMessage, bot: string): boolean =>
  author.id === bot &&
  (type === MessageType.Default || type === MessageType.Reply) &&
  interaction === undefined &&
  attachments.length === 0;
