import type { StartContext } from '@svc/connector-kit/connector.ts';
import { typedText } from '@svc/connector-kit/typed-text.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import { invitationIn } from '@svc/contract/invitation.ts';
import type { Message, User } from 'grammy/types';
import { meta } from '../meta.ts';
import type { ChatAccess } from './chat-access.ts';
import { targetOf, type ChatKeys } from './chat-keys.ts';
import { describeContent } from './describe-content.ts';
import { describeContext } from './describe-context.ts';
import { isMeant, withoutName } from './is-meant.ts';
import { fileOf } from './message-file.ts';
import { senderOf } from './sender-of.ts';
import type { TakeFile } from './take-file.ts';

export type EnvelopeDeps = Pick<StartContext, 'core'> & {
  bot: User;
  keys: ChatKeys;
  access: ChatAccess;
  deny(target: string): Promise<void>;
  takeFile: TakeFile;
};

/** A message as an envelope, with its file; null when it is not answered. */
export async function toEnvelope(deps: EnvelopeDeps, message: Message, signal: AbortSignal): Promise<Envelope | null> {
  const { core, bot, keys, access } = deps;
  if (message.from?.id === bot.id || !hasContent(message)) return null;
  const envelope = basicEnvelope(deps, message);
  const resolve = () => core.resolve(envelope);
  const isInvited = message.chat.type === 'private' && invitationIn(envelope.content.text) !== null;
  if (!(await access.mayTalk({ root: keys.root(message.chat.id), chat: message.chat.id, isInvited, resolve }))) {
    if (isAddressed(message, bot)) await deps.deny(targetOf(message));
    return null;
  }
  const isRoom = message.chat.type !== 'private';
  const file = fileOf(message);
  const isDenied = (isRoom || file !== null) && (await resolve()).denied;
  // In a room, an answer cannot be shown to a stranger alone, and their files are not fetched.
  if (isDenied) return { ...envelope, ...(isRoom && { public: true }) };
  if (file === null) return envelope;
  const origin = {
    conversationKey: envelope.conversation_key,
    sender: envelope.sender.raw_id,
    message: keys.ofMessage(message),
    signal,
  };
  const { words, attachment } = await deps.takeFile(file, origin);
  const text = joined(envelope.content.text, words);
  return { ...envelope, content: { ...envelope.content, text, ...(attachment !== undefined && { attachments: [attachment] }) } };
}

/** The envelope without the file, built before the core is asked about the sender. */
export function basicEnvelope({ bot, keys }: EnvelopeDeps, message: Message): Envelope {
  const { chat } = message;
  return {
    channel: meta.type,
    conversation_key: keys.conversation(message),
    message_id: keys.ofMessage(message),
    sender: senderOf(message),
    content: { text: textOf(message, bot), ...saidOf(message, bot) },
    capabilities: meta.capabilities,
    channel_context: { chatId: targetOf(message) },
    ...(chat.type !== 'private' && { mentioned: isMeant(message, bot) }),
    ...(isOpenToAll(message) && { public: true }),
  };
}

/**
 * The text of a message without its file. A command is passed alone, because it would not be recognized after other words. A forwarded
 * command is not a command of the person who forwards it.
 */
export function textOf(message: Message, bot: User): string {
  const written = message.text ?? message.caption ?? '';
  // A message that contains only the bot's name keeps it.
  const said = withoutName(written, bot) || written;
  if (said.startsWith('/') && message.forward_origin === undefined) {
    return /^\/start\b/.test(said) && invitationIn(said) === null ? '/help' : said;
  }
  const parts = [...describeContext(message, bot), describeContent(message) ?? '', typedText(said)];
  return parts.filter((part) => part !== '').join('\n');
}

/** The written text, and the text that replaces a file. */
export const joined = (text: string, words = ''): string => [text, words].filter((part) => part !== '').join('\n');

/** In an answer to a message of the bot, only what was written may answer a question, without the quoted words. */
function saidOf(message: Message, bot: User): { said?: string } {
  const { reply_to_message: answered, forward_origin, text } = message;
  const isAnswer = answered?.from?.id === bot.id && answered.sender_chat === undefined && forward_origin === undefined;
  return isAnswer && text !== undefined && text.length <= maxSaid ? { said: withoutName(text, bot) } : {};
}

/** A longer text answers no question. */
const maxSaid = 200;

/** Joins, pins, calls, payments and the like contain none of these. */
const hasContent = (message: Message): boolean =>
  message.text !== undefined || message.caption !== undefined || fileOf(message) !== null || describeContent(message) !== null;

const isAddressed = (message: Message, bot: User): boolean => message.chat.type === 'private' || isMeant(message, bot);

/** Anyone can read a chat with a public name, or a channel. */
export const isOpenToAll = ({ chat }: Pick<Message, 'chat'>): boolean =>
  chat.type === 'channel' || (chat.type === 'supergroup' && chat.username !== undefined);
