import type { Message, MessageEntity, User } from 'grammy/types';

/** Whether a message in a room is addressed to the bot: it mentions the bot, or answers one of its messages. */
export function isMeant(message: Message, bot: User): boolean {
  const { reply_to_message: answered, entities, caption_entities, text, caption } = message;
  // Each message of a topic names the topic's first message as the one it answers.
  if (answered?.from?.id === bot.id && answered.forum_topic_created === undefined) return true;
  const said = text ?? caption ?? '';
  return (entities ?? caption_entities ?? []).some((entity) => names(entity, said, bot));
}

function names(entity: MessageEntity, text: string, { id, username = '' }: User): boolean {
  const part = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
  const own = `@${username.toLowerCase()}`;
  if (entity.type === 'text_mention') return entity.user?.id === id;
  if (entity.type === 'mention') return part === own;
  return entity.type === 'bot_command' && (part.endsWith(own) || !part.includes('@'));
}

/** The text without the bot's name at its beginning. A command keeps only its own name. */
export function withoutName(text: string, { username = '' }: User): string {
  const own = `@${username}`.toLowerCase();
  const command = /^\/\w{1,64}(@\w{1,64})?/.exec(text);
  if (command?.[1]?.toLowerCase() === own) return text.slice(0, command[0].length - own.length) + text.slice(command[0].length);
  const isNamed = text.toLowerCase().startsWith(own) && !/^\w/.test(text.slice(own.length));
  return isNamed ? text.slice(own.length).replace(/^[\s,:]+/, '') : text;
}
