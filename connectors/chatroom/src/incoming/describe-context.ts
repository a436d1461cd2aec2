import type { Bot } from '../chatroom-deps.ts';
import { describeContent } from './describe-content.ts';
import { channelLine } from '@svc/connector-kit/channel-line.ts';
import { oneLine } from '@svc/connector-kit/one-line.ts';
import { plainContent, type Names } from './plain-content.ts';
import { timeOf, type ChatMessage } from './read-event.ts';

type Deps = { bot: Bot; names: Names };

/** Maximum length of the quoted part of an answered message. */
const longestQuote = 500;
const longestForward = 4000;

/** Describes the context of a message: what it forwards, and which message it answers. One line each. */
export function describeContext(message: ChatMessage, { bot, names }: Deps): string[] {
  const { message_snapshots: snapshots = [], referenced_message: answered } = message;
  const forwards = snapshots.map(({ message: { content, embeds, sticker_items } }) => {
    const said = [plainContent(content, message, names, bot), ...describeContent({ embeds, sticker_items })].join(' ');
    return channelLine('Forwarded', `: "${oneLine(said, longestForward)}"`);
  });
  if (answered === undefined || answered === null) return forwards;
  // People choose their names: someone called "your message" must not be mistaken for the assistant.
  const author = answered.author.id === bot.id ? 'your message' : `a message of ${oneLine(answered.author.username, 100)}`;
  const said = [plainContent(answered.content, answered, names, bot), ...describeContent(answered)].join(' ').trim();
  return [...forwards, channelLine('In answer to', ` ${author}${said === '' ? '' : `: "${oneLine(said, longestQuote)}"`}`)];
}

/** A message that arrives later than this was written while the assistant was away, ms. */
const lateMs = 2 * 60_000;

/** Says that the assistant was away when the message was written; null when it was not. */
export function describeLate(message: Pick<ChatMessage, 'id'>, now: number): string | null {
  const ms = now - timeOf(message.id);
  if (ms < lateMs) return null;
  const minutes = Math.round(ms / 60_000);
  const age = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
  return channelLine('Written', ` ${age} ago, while you were away`);
}
