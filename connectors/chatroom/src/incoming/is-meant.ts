import type { Bot } from '../chatroom-deps.ts';
import type { ChatMessage } from './read-event.ts';

/** Whether a message in a channel is addressed to the bot: it mentions the bot or its role, or answers one of its messages. */
export function isMeant(message: ChatMessage, bot: Bot, ownRoles: readonly string[] = []): boolean {
  const { mentions = [], mention_roles: roles = [], referenced_message: answered, content, author } = message;
  if (roles.some((role) => ownRoles.includes(role))) return true;
  // A bot's reply to a message does not address its author. A bot that must not notify people writes names as text, which Discord does not
  // report as mentions.
  if (author.bot === true) return namePattern(bot).test(content);
  return answered?.author.id === bot.id || mentions.some(({ id }) => id === bot.id);
}

/** The text without the bot's name at its beginning. */
export function withoutName(text: string, bot: Bot): string {
  const name = new RegExp(`^\\s*(?:<@!?${bot.id}>|@${escaped(bot.username)}(?![\\w.]))[\\s,:]*`, 'iu');
  return text.replace(name, '');
}

const namePattern = (bot: Bot): RegExp => new RegExp(`<@!?${bot.id}>|(?<![\\w.@])@${escaped(bot.username)}(?![\\w.])`, 'iu');

const escaped = (text: string): string => text.replaceAll(/[^\w]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
