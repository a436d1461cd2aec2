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

/** A message as the core takes it, its file brought along; null for what is not answered. */
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
  // A room has no answer that a stranger alone can read, and their files are not fetched.
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

/** A message without its file, as it is said before anybody is asked about it. */
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
 * What a message says without its file. A command stands alone: it is no command behind other words. Who passes one on that
 * another wrote has given none.
 */
export function textOf(message: Message, bot: User): string {
  const written = message.text ?? message.caption ?? '';
  // A name alone is all that was said.
  const said = withoutName(written, bot) || written;
  if (said.startsWith('/') && message.forward_origin === undefined) {
    return /^\/start\b/.test(said) && invitationIn(said) === null ? '/help' : said;
  }
  const parts = [...describeContext(message, bot), describeContent(message) ?? '', typedText(said)];
  return parts.filter((part) => part !== '').join('\n');
}

/** What was written, and what stands for a file. */
export const joined = (text: string, words = ''): string => [text, words].filter((part) => part !== '').join('\n');

/** In answer to a message of the bot it is what was written that may answer a question, without the words that it is about. */
function saidOf(message: Message, bot: User): { said?: string } {
  const { reply_to_message: answered, forward_origin, text } = message;
  const isAnswer = answered?.from?.id === bot.id && answered.sender_chat === undefined && forward_origin === undefined;
  return isAnswer && text !== undefined && text.length <= maxSaid ? { said: withoutName(text, bot) } : {};
}

/** Longer texts answer no question. */
const maxSaid = 200;

/** Joins, pins, calls, payments and the like hold none of these. */
const hasContent = (message: Message): boolean =>
  message.text !== undefined || message.caption !== undefined || fileOf(message) !== null || describeContent(message) !== null;

const isAddressed = (message: Message, bot: User): boolean => message.chat.type === 'private' || isMeant(message, bot);

/** What has a public name can be read by anybody, and so can a channel. */
export const isOpenToAll = ({ chat }: Pick<Message, 'chat'>): boolean =>
  chat.type === 'channel' || (chat.type === 'supergroup' && chat.username !== undefined);
