import type { Message, MessageOrigin, User } from 'grammy/types';
import { describeContent } from './describe-content.ts';
import { channelLine } from '@svc/connector-kit/channel-line.ts';
import { oneLine } from '@svc/connector-kit/one-line.ts';
import { nameOf, titleOf } from './sender-of.ts';

/** Maximum lengths of the quoted part of an answered message, and of a name. */
const longestQuote = 500;
const longestName = 200;

/** Describes the context of a message: whose message it forwards, and which message it answers. One line each. */
export function describeContext(message: Message, bot: User): string[] {
  return [forwardOf(message.forward_origin), replyOf(message, bot)].filter((line) => line !== null);
}

function forwardOf(origin: MessageOrigin | undefined): string | null {
  if (origin === undefined) return null;
  return channelLine('Forwarded', ` from ${oneLine(originName(origin), longestName)}`);
}

function originName(origin: MessageOrigin): string {
  switch (origin.type) {
    case 'user':
      return nameOf(origin.sender_user);
    case 'hidden_user':
      return origin.sender_user_name;
    case 'chat':
      return titleOf(origin.sender_chat);
    case 'channel':
      return titleOf(origin.chat);
    default:
      return 'elsewhere';
  }
}

function replyOf({ reply_to_message: answered, external_reply, quote }: Message, bot: User): string | null {
  if (answered?.forum_topic_created !== undefined) return null;
  if (answered !== undefined)
    return channelLine('In answer to', ` ${authorOf(answered, bot)}${quoted(quote?.text ?? textOf(answered))}`);
  if (external_reply === undefined) return null;
  const author = oneLine(originName(external_reply.origin), longestName);
  return channelLine('In answer to', ` a message of ${author}, in another chat${quoted(quote?.text ?? '')}`);
}

const quoted = (text: string): string => (text === '' ? '' : `: "${oneLine(text, longestQuote)}"`);

/** People choose their names: someone called "your message" must not be mistaken for the assistant. */
function authorOf({ from, sender_chat }: Pick<Message, 'from' | 'sender_chat'>, bot: User): string {
  if (sender_chat === undefined && from?.id === bot.id) return 'your message';
  const name = sender_chat === undefined ? nameOf(from ?? {}) : titleOf(sender_chat);
  return name === '' ? 'a message' : `a message of ${oneLine(name, longestName)}`;
}

const textOf = (message: Message): string => message.text ?? message.caption ?? describeContent(message) ?? '';
