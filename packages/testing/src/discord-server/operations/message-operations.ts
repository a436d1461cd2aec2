import { ApiError, intents, unknownThing, type MessageBody } from '../api-types.ts';
import { isReadable } from '../announce.ts';
import type { BotProfile } from '../bot-profile.ts';
import { toMessage } from '../to-wire.ts';
import type { Platform } from '../platform.ts';
import type { OperationCall, Operations } from './operation-table.ts';
import { change, send, writable } from './write-message.ts';
import type { Channel, StoredMessage } from '../model.ts';

const mostReactions = 20;

export const messageOperations: Operations = {
  create_message(platform, call) {
    const body = call.body as MessageBody;
    const channel = writable(platform, call.bot.user, call.at['channel_id']);
    const message = send(platform, call.bot, channel, { body, files: call.files });
    call.made(message);
    return toMessage(message, call.bot.user, true);
  },
  update_message(platform, call) {
    const message = find(platform, call);
    if (message.author !== call.bot.user) throw new ApiError(403, 50_005, 'Cannot edit a message authored by another user');
    writable(platform, call.bot.user, message.channel.id);
    change(platform, call.bot, message, { body: call.body as MessageBody, files: call.files });
    call.made(message);
    return toMessage(message, call.bot.user, true);
  },
  delete_message(platform, call) {
    const message = find(platform, call);
    if (message.author !== call.bot.user) platform.world.allowed(call.bot.user, message.channel.id, 'MANAGE_MESSAGES');
    message.isDeleted = true;
    platform.announce.deleted([message]);
  },
  bulk_delete_messages(platform, call) {
    const channel = platform.world.allowed(call.bot.user, call.at['channel_id'], 'MANAGE_MESSAGES');
    const { messages: ids } = call.body as { messages: string[] };
    const messages = ids.flatMap((id) => platform.messages.find(channel, id) ?? []);
    for (const message of messages) message.isDeleted = true;
    platform.announce.deleted(messages);
  },
  get_message: (platform, call) => view(find(platform, call), call.bot),
  list_messages(platform, call) {
    const channel = platform.world.allowed(call.bot.user, call.at['channel_id'], 'READ_MESSAGE_HISTORY');
    return listed(channel, call.query).map((message) => view(message, call.bot));
  },
  trigger_typing_indicator(platform, call) {
    const channel = writable(platform, call.bot.user, call.at['channel_id']);
    channel.typings.push(call.bot.user);
    platform.announce.typing(channel, call.bot.user);
  },
  add_my_message_reaction(platform, call) {
    const message = find(platform, call);
    const emoji = call.at['emoji_name'] ?? '';
    platform.world.allowed(call.bot.user, message.channel.id, 'READ_MESSAGE_HISTORY');
    if (!/^\p{RGI_Emoji}$/v.test(emoji) && !/^\w+:\d+$/.test(emoji)) throw new ApiError(400, 10_014, 'Unknown Emoji');
    const users = message.reactions.get(emoji);
    if (users === undefined) {
      platform.world.allowed(call.bot.user, message.channel.id, 'ADD_REACTIONS');
      if (message.reactions.size >= mostReactions)
        throw new ApiError(400, 30_010, `Maximum number of reactions reached (${mostReactions})`);
    }
    message.reactions.set(emoji, (users ?? new Set()).add(call.bot.user));
    platform.announce.reaction(true, message, call.bot.user, emoji);
  },
  delete_my_message_reaction(platform, call) {
    const message = find(platform, call);
    const emoji = call.at['emoji_name'] ?? '';
    const users = message.reactions.get(emoji);
    if (users?.delete(call.bot.user) === true) platform.announce.reaction(false, message, call.bot.user, emoji);
    if (users?.size === 0) message.reactions.delete(emoji);
  },
};

function find({ world, messages }: Platform, { bot, at }: OperationCall): StoredMessage {
  const message = messages.find(world.visible(bot.user, at['channel_id']), at['message_id']);
  if (message === undefined || message.onlyFor !== null) throw unknownThing(10_008, 'Message');
  return message;
}

const view = (message: StoredMessage, bot: BotProfile) =>
  toMessage(message, bot.user, isReadable(message, bot, (bot.privileged & intents.messageContent) !== 0));

/** Newest first, as the API lists them. */
function listed({ messages }: Channel, query: URLSearchParams): StoredMessage[] {
  const limit = Number(query.get('limit') ?? 50);
  const after = query.get('after');
  const before = query.get('before');
  const there = [...messages.values()].filter(({ isDeleted, onlyFor }) => !isDeleted && onlyFor === null);
  const fits = there
    .filter(({ id }) => after === null || BigInt(id) > BigInt(after))
    .filter(({ id }) => before === null || BigInt(id) < BigInt(before));
  // `after` returns the messages directly after it.
  return (after === null ? fits.slice(-limit) : fits.slice(0, limit)).toReversed();
}
