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
  /** In a private chat a reply may name no message. */
  isPrivate(channel: string): boolean;
};

/** As many as Discord gives at once; who was away for longer posts again, under the same nonce. */
const most = 100;

/**
 * Finds a message whose answer was lost, or that was posted by a process that was killed. Discord repeats no post of a nonce, but only for some minutes:
 * after that one of the bot's own that is not known to have been posted is the one that was lost, for in one channel nothing else is written meanwhile.
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
    // The first part of a reply names the message that it answers; the parts behind it name none.
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

/** Oldest first. Without the right to read what was said before there is nothing to be found. */
async function readAfter(call: DiscordCall, channel: string, after: string, signal: AbortSignal): Promise<APIMessage[]> {
  try {
    const query = { after, limit: String(most) };
    return (await call<APIMessage[]>('GET', Routes.channelMessages(channel), { query }, signal)).toReversed();
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'forbidden' || error.code === 'unprocessable')) return [];
    throw error;
  }
}

/** What it says to a command, that it has pinned something, and files are no text of a reply. */
const isOwnText = ({ author, type, attachments, interaction_metadata: interaction }: APIMessage, bot: string): boolean =>
  author.id === bot &&
  (type === MessageType.Default || type === MessageType.Reply) &&
  interaction === undefined &&
  attachments.length === 0;
