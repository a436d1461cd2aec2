import { expect, test } from 'vitest';
import type { Message, User } from 'grammy/types';
import { isMeant, withoutName } from './is-meant.ts';

const bot = { id: 1, is_bot: true, first_name: 'Bot', username: 'The_Bot' } as User;
const message = (fields: object) => fields as Message;
const entity = (type: string, text: string, part: string, more = {}) =>
  message({ text, entities: [{ type, offset: text.indexOf(part), length: part.length, ...more }] });

test.each([
  ['its name', entity('mention', 'hey @the_bot', '@the_bot'), true],
  [
    'its name in a caption',
    message({ caption: '@THE_BOT', caption_entities: [{ type: 'mention', offset: 0, length: 8 }] }),
    true,
  ],
  ['a name that begins like its own', entity('mention', '@the_bot2', '@the_bot2'), false],
  ['its name in code', entity('code', '@the_bot', '@the_bot'), false],
  ['a link to its account', entity('text_mention', 'Bot', 'Bot', { user: bot }), true],
  ['a link to another', entity('text_mention', 'Bot', 'Bot', { user: { id: 2 } }), false],
  ['a command of its own', entity('bot_command', '/new@the_bot', '/new@the_bot'), true],
  ['a command of anybody', entity('bot_command', '/new', '/new'), true],
  ['a command of another bot', entity('bot_command', '/new@that_bot', '/new@that_bot'), false],
  ['an answer to it', message({ text: 'x', reply_to_message: { from: bot } }), true],
  ['an answer to another', message({ text: 'x', reply_to_message: { from: { id: 2 } } }), false],
  ['a topic that it opened', message({ text: 'x', reply_to_message: { from: bot, forum_topic_created: {} } }), false],
  ['nothing', message({ text: 'the_bot' }), false],
])('%s', (_, given, means) => {
  expect(isMeant(given, bot)).toBe(means);
});

test.each([
  ['@the_bot hello', 'hello'],
  ['@The_Bot, hello', 'hello'],
  ['@the_bot: hello', 'hello'],
  ['@the_bot2 hello', '@the_bot2 hello'],
  ['hello @the_bot', 'hello @the_bot'],
  ['/new@the_bot now', '/new now'],
  ['/new@that_bot', '/new@that_bot'],
  ['/new', '/new'],
  ['/', '/'],
  ['@the_bot', ''],
])('withoutName(%j) is %j', (text, rest) => {
  expect(withoutName(text, bot)).toBe(rest);
});
