import {
  ApiError,
  invalidForm,
  missingPermissions,
  type AllowedMentions,
  type DiscordAttachment,
  type DiscordComponent,
  type DiscordUser,
  type MessageBody,
  type UploadedPart,
} from '../api-types.ts';
import type { BotProfile } from '../bot-profile.ts';
import type { MessageToAdd } from '../create-messages.ts';
import type { Platform } from '../platform.ts';
import { pingsOf } from '../pings-of.ts';
import type { Channel, MessageContent, StoredMessage } from '../model.ts';

export type Written = { body: MessageBody; files: ReadonlyMap<string, UploadedPart> };

const maxText = 2000;
const maxEmbeds = 6000;
const nonceMs = 5 * 60_000;

/** A channel in which the bot may write. @throws ApiError */
export function writable({ world }: Platform, bot: DiscordUser, id: string | undefined): Channel {
  const channel = world.visible(bot, id);
  const isThread = channel.parent !== null && channel.type !== 0;
  if (![0, 1, 2, 5, 10, 11, 12].includes(channel.type))
    throw new ApiError(400, 50_008, 'Cannot send messages in a non-text channel');
  if (!world.may(bot, channel, isThread ? 'SEND_MESSAGES_IN_THREADS' : 'SEND_MESSAGES')) throw missingPermissions();
  if (channel.isArchived && channel.isLocked) throw new ApiError(400, 50_083, 'Thread is archived');
  if (channel.type === 1 && channel.recipients.some((one) => world.closedDms.has(one.id)))
    throw new ApiError(403, 50_007, 'Cannot send messages to this user');
  return channel;
}

/** Adds a message of a bot and sends it to everyone; with an enforced nonce that is known, returns the existing one. @throws ApiError */
export function send(
  platform: Platform,
  bot: BotProfile,
  channel: Channel,
  written: Written,
  more: Partial<MessageToAdd> = {},
): StoredMessage {
  const { body } = written;
  const there = body.enforce_nonce === true ? withNonce(platform, bot, channel, body.nonce) : undefined;
  if (there !== undefined) return there;
  const content = contentOf(platform, bot, channel, written);
  refuseEmpty(content);
  const replyTo = referenceOf(channel, body);
  const message = platform.messages.add({
    channel,
    author: bot.user,
    ...content,
    nonce: body.nonce ?? null,
    flags: body.flags ?? 0,
    replyTo,
    type: replyTo === null ? 0 : 19,
    pings: pingsOf(platform.world, channel, content.content, mentionsOf(channel, replyTo, body.allowed_mentions)),
    ...more,
  });
  if (channel.isArchived) {
    channel.isArchived = false;
    platform.announce.channel('UPDATE', channel);
  }
  platform.announce.message('MESSAGE_CREATE', message);
  return message;
}

/** Changes a message of a bot, and sends it to everyone. Fields that are not in the body stay. @throws ApiError */
export function change(platform: Platform, bot: BotProfile, message: StoredMessage, { body, files }: Written): void {
  const next = contentOf(platform, bot, message.channel, { body, files });
  const kept = keptOf(message.attachments, body.attachments);
  const changes: Partial<MessageContent> = {
    ...(body.content !== undefined && { content: next.content }),
    ...(body.embeds !== undefined && { embeds: next.embeds }),
    ...(body.components !== undefined && { components: next.components }),
    attachments: [...kept, ...next.attachments],
  };
  refuseEmpty({ ...message, ...changes });
  platform.messages.rewrite(message, changes);
  platform.announce.message('MESSAGE_UPDATE', message);
}

function withNonce({ clock }: Platform, bot: BotProfile, channel: Channel, nonce: MessageBody['nonce']) {
  if (nonce == null) return undefined;
  const since = clock.now() - nonceMs;
  return [...channel.messages.values()].find(
    (one) => one.author === bot.user && String(one.nonce) === String(nonce) && one.sentAt >= since && !one.isDeleted,
  );
}

function contentOf(
  { files: stored, note }: Platform,
  bot: BotProfile,
  channel: Channel,
  { body, files }: Written,
): MessageContent {
  const content = (body.content ?? '').trim();
  if (content.length > maxText) throw invalidForm('content', 'BASE_TYPE_MAX_LENGTH', `Must be ${maxText} or fewer in length.`);
  if (!content.isWellFormed()) note(`a text of ${bot.user.username} is not well-formed`);
  refuseEmbeds(body);
  const components = numbered(body.components ?? []);
  const descriptions = new Map((body.attachments ?? []).map((one) => [`files[${one.id}]`, one.description]));
  const attachments = [...files].map(([field, { name, mime, bytes }]) => {
    if (!/^files\[\d\]$/.test(field)) note(`a file comes as ${field}`);
    const description = descriptions.get(field);
    return stored.add({ name, mime, bytes, ...(description !== undefined && { description }) }, channel);
  });
  const embeds = (body.embeds ?? []).map((embed) => ({ type: 'rich', ...embed }));
  return { content, embeds, components, attachments };
}

function refuseEmpty({ content, embeds, components, attachments }: MessageContent): void {
  if (content === '' && embeds.length + components.length + attachments.length === 0)
    throw new ApiError(400, 50_006, 'Cannot send an empty message');
}

function refuseEmbeds({ embeds }: MessageBody): void {
  const counted = ['title', 'description', 'name', 'value', 'text'];
  const sizeOf = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : Object.entries(value).reduce(
          (sum, [name, one]) => sum + (typeof one === 'string' && counted.includes(name) ? one.length : sizeOf(one)),
          0,
        );
  if (sizeOf(embeds) > maxEmbeds)
    throw invalidForm('embeds', 'MAX_EMBED_SIZE_EXCEEDED', `Embed size exceeds maximum size of ${maxEmbeds}`);
}

/** The platform gives each component a number. */
function numbered(components: readonly DiscordComponent[]): DiscordComponent[] {
  let last = 0;
  const seen = new Set<string>();
  const number = (component: DiscordComponent): DiscordComponent => {
    const { custom_id } = component;
    if (custom_id !== undefined && seen.has(custom_id))
      throw invalidForm('components', 'COMPONENT_CUSTOM_ID_DUPLICATED', 'Component custom id cannot be duplicated');
    if (custom_id !== undefined) seen.add(custom_id);
    const isMenu = [3, 5, 6, 7, 8].includes(component.type);
    const own = { id: ++last, ...(isMenu && { min_values: 1, max_values: 1 }), ...component };
    return component.components === undefined ? own : { ...own, components: component.components.map(number) };
  };
  if (components.length > 5) throw invalidForm('components', 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 5 in length.');
  if (components.some((row) => row.type === 1 && ((row.components?.length ?? 0) < 1 || (row.components?.length ?? 0) > 5)))
    throw invalidForm('components/0/components', 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 5 in length.');
  return components.map(number);
}

function referenceOf(channel: Channel, { message_reference: reference }: MessageBody): string | null {
  if (reference == null || reference.type === 1) return null;
  const replied = channel.messages.get(reference.message_id);
  if (replied !== undefined && !replied.isDeleted) return replied.id;
  if (reference.fail_if_not_exists === false) return null;
  throw invalidForm('message_reference', 'MESSAGE_REFERENCE_UNKNOWN_MESSAGE', 'Unknown message');
}

/** The default notifications: everyone who is mentioned, and the author of the message that is replied to. */
function mentionsOf(channel: Channel, replyTo: string | null, allowed: AllowedMentions | null | undefined) {
  const replied = replyTo === null ? undefined : channel.messages.get(replyTo)?.author;
  const isPinged = allowed == null ? true : (allowed.replied_user ?? false);
  return { allowed: allowed ?? null, replied: isPinged ? replied : undefined };
}

const keptOf = (attachments: readonly DiscordAttachment[], named: MessageBody['attachments']): DiscordAttachment[] =>
  attachments.filter(({ id }) => named === undefined || (named ?? []).some((one) => String(one.id) === id));
