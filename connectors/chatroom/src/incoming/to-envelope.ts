import { channelKey, type Attachment, type Envelope, type Sender, type StartContext } from '@svc/connector-kit';
import type { TakeFile } from '@svc/connector-kit/ingress/take-file.ts';
import { MessageType } from 'discord-api-types/v10';
import type { Bot, Room } from '../chatroom-deps.ts';
import { channelLine } from '@svc/connector-kit/channel-line.ts';
import { oneLine } from '@svc/connector-kit/one-line.ts';
import { typedText } from '@svc/connector-kit/typed-text.ts';
import { meta } from '../meta.ts';
import { describeContent } from './describe-content.ts';
import { describeContext, describeLate } from './describe-context.ts';
import { isMeant, withoutName } from './is-meant.ts';
import { decideTaking, type TakingDeps } from './decide-taking.ts';
import type { MemberRoles } from './member-roles.ts';
import { filesOf, type MessageFile } from './message-files.ts';
import { plainContent, type Names } from './plain-content.ts';
import type { ChatMessage } from './read-event.ts';
import type { Guild } from './room-cache.ts';
import type { KnownRooms } from './rooms.ts';
import { senderOf } from './sender-of.ts';
import { isRole, type FindSpeaker, type Roles, type Speaker } from './senders.ts';

export type EnvelopeDeps = Pick<StartContext, 'core' | 'instanceId'> &
  TakingDeps & {
    bot: Bot;
    rooms: KnownRooms;
    /** Whether the operator allows a channel to be read. */
    isEnabled(channel: string): boolean;
    /** The only person who is answered in private; empty for everyone who is known. */
    dmAllowed: string;
    deny(channel: string): Promise<void>;
    findSpeaker: FindSpeaker;
    rolesOf: MemberRoles;
    takeFile: TakeFile<MessageFile>;
    now(): number;
  };

type Placed = { room: Room; guild: Guild } | null;

/** The types with content: joins, pins, boosts and the like have none. */
const saidTypes: ReadonlySet<number> = new Set([
  MessageType.Default,
  MessageType.Reply,
  MessageType.ChatInputCommand,
  MessageType.ContextMenuCommand,
]);

/** A message as an envelope, with its files; null when it does not concern the core. */
export async function toEnvelope(deps: EnvelopeDeps, message: ChatMessage, signal: AbortSignal): Promise<Envelope | null> {
  if (!hasContent(message)) return null;
  const placed = await placeOf(deps, message, signal);
  if (message.guild_id !== undefined && (placed === null || !isOpen(deps, placed.room))) return null;
  const text = textOf(deps, message, placed?.guild);
  if (message.author.id === deps.bot.id) {
    noteHeard(deps, message, text);
    return null;
  }
  return placed === null ? ofPrivate(deps, message, text, signal) : ofRoom(deps, message, placed, text, signal);
}

export async function placeOf(
  { rooms }: Pick<EnvelopeDeps, 'rooms'>,
  message: ChatMessage,
  signal: AbortSignal,
): Promise<Placed> {
  if (message.guild_id === undefined) return null;
  const room = await rooms.find(message.channel_id);
  return room === null ? null : { room, guild: await rooms.guild(room.guildId, signal) };
}

/** Switching off a channel also switches off its threads. */
export const isOpen = (
  { isEnabled }: Pick<EnvelopeDeps, 'isEnabled'>,
  { id, parentId = id }: Pick<Room, 'id' | 'parentId'>,
): boolean => isEnabled(id) && isEnabled(parentId);

async function ofPrivate(deps: EnvelopeDeps, message: ChatMessage, text: string, signal: AbortSignal): Promise<Envelope | null> {
  if (deps.dmAllowed !== '' && message.author.id !== deps.dmAllowed) {
    if (message.author.bot !== true) await deps.deny(message.channel_id);
    return null;
  }
  const envelope = basicEnvelope(deps, message, text);
  const { denied } = await deps.core.resolve(envelope);
  return denied ? envelope : withFiles(deps, envelope, message, signal);
}

async function ofRoom(
  deps: EnvelopeDeps,
  message: ChatMessage,
  { room, guild }: NonNullable<Placed>,
  text: string,
  signal: AbortSignal,
): Promise<Envelope | null> {
  const basic = { ...basicEnvelope(deps, message, text), ...(guild.isPublic && { public: true }) };
  const speaker = await speakerOf(deps, message, { room, guild }, signal);
  const isAddressed = isMeant(message, deps.bot, guild.ownRoles);
  // In a room, an answer cannot be shown to a stranger alone; messages that they address to others are ignored.
  if (speaker.identity.denied) return isAddressed ? { ...basic, public: true } : null;
  noteHeard(deps, message, text);
  const envelope = {
    ...basic,
    sender: speaker.sender,
    content: { text: bySpeaker(speaker.sender, message.author.username, text) },
  };
  const taking = await decideTaking(deps, { message, room, envelope, isAddressed }, signal);
  return withFiles(deps, { ...envelope, ...taking, content: { ...envelope.content, ...taking.content } }, message, signal);
}

const noteHeard = (
  { joinIn }: TakingDeps,
  { channel_id: channel, author: { username: name } }: ChatMessage,
  text: string,
): void => joinIn.heard({ channel, name, text });

function basicEnvelope({ instanceId }: Pick<EnvelopeDeps, 'instanceId'>, message: ChatMessage, text: string): Envelope {
  return {
    channel: meta.type,
    conversation_key: channelKey(meta.type, instanceId, message.channel_id),
    message_id: message.id,
    sender: senderOf(message),
    content: { text },
    capabilities: meta.capabilities,
    channel_context: { channelId: message.channel_id },
  };
}

/** The author of a message, as the core should identify them. */
export function speakerOf(
  deps: Pick<EnvelopeDeps, 'instanceId' | 'findSpeaker' | 'rolesOf'>,
  message: ChatMessage,
  placed: Placed,
  signal: AbortSignal,
): Promise<Speaker> {
  const conversation_key = channelKey(meta.type, deps.instanceId, message.channel_id);
  const place = { conversation_key, ...(placed?.guild.isPublic === true && { public: true }) };
  return deps.findSpeaker(senderOf(message), rolesIn(deps, message, placed, signal), place);
}

/** Only the gateway names the roles of an author: for a message that was missed, they have to be asked for. */
function rolesIn(
  { rolesOf }: Pick<EnvelopeDeps, 'rolesOf'>,
  { member, author }: ChatMessage,
  placed: Placed,
  signal: AbortSignal,
): Roles {
  if (member?.roles !== undefined || placed === null) return member?.roles ?? [];
  const { id, roles } = placed.guild;
  return { among: [...roles.keys()], find: () => rolesOf(id, author.id, signal) };
}

async function withFiles(
  { takeFile }: EnvelopeDeps,
  envelope: Envelope,
  message: ChatMessage,
  signal: AbortSignal,
): Promise<Envelope> {
  const { conversation_key: conversationKey, sender, content } = envelope;
  const origin = { conversationKey, sender: sender.raw_id, message: message.id, signal };
  const attachments: Attachment[] = [];
  const texts = [content.text];
  for (const file of filesOf(message)) {
    const { words, attachment } = await takeFile(file, origin);
    if (words !== undefined) texts.push(words);
    if (attachment !== undefined) attachments.push(attachment);
  }
  const text = texts.filter((part) => part !== '').join('\n');
  return { ...envelope, content: { ...content, text, ...(attachments.length > 0 && { attachments }) } };
}

/** Adds the author's name when they are known only by a role, because all its members share one account. */
export const bySpeaker = (sender: Sender, name: string, text: string): string =>
  isRole(sender) && !text.startsWith('/') ? `${channelLine('Written', ` by ${oneLine(name, 100)}`)}\n${text}` : text;

/** The text of a message without its files. A command is passed alone, because it would not be recognized after other words. */
export function textOf(
  { bot, rooms, now }: Pick<EnvelopeDeps, 'bot' | 'rooms' | 'now'>,
  message: ChatMessage,
  guild?: Guild,
): string {
  const names: Names = { room: (id) => rooms.known(id)?.name, role: (id) => guild?.roles.get(id) };
  // A message that contains only the bot's name keeps it.
  const written = withoutName(message.content, bot) || message.content;
  const said = plainContent(written, message, names, bot);
  if (said.startsWith('/')) return said;
  const late = describeLate(message, now());
  const parts = [
    ...(late === null ? [] : [late]),
    ...describeContext(message, { bot, names }),
    ...describeContent(message),
    typedText(said),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function hasContent(message: ChatMessage): boolean {
  if (!saidTypes.has(message.type)) return false;
  const lists = [message.attachments, message.embeds, message.sticker_items, message.message_snapshots];
  return message.content !== '' || message.poll !== undefined || lists.some((list) => (list?.length ?? 0) > 0);
}
