import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMeant, withoutName } from './is-meant.ts';
import type { ChatMessage } from './read-event.ts';

const bot = { id: '100000000000000001', username: 'gate.keeper', applicationId: '1' };
const message = (content: string, more: Partial<ChatMessage> & { isBot?: boolean } = {}) =>
  ({ content, author: { id: '2', username: 'ann', bot: more.isBot }, ...more }) as ChatMessage;

test('a message is for the bot if it mentions the bot or its role, or replies to it', () => {
  expect(isMeant(message('hi', { mentions: [{ id: bot.id }] as never }), bot)).toBe(true);
  expect(isMeant(message('hi', { mention_roles: ['7'] }), bot, ['7'])).toBe(true);
  expect(isMeant(message('hi', { referenced_message: message('x', { author: { id: bot.id } as never }) as never }), bot)).toBe(
    true,
  );
  expect(isMeant(message('hi', { mention_roles: ['7'], mentions: [{ id: '3' }] as never }), bot, ['8'])).toBe(false);
});

test("a bot's reply to it is not for the bot, unless it is named in the text", () => {
  const answer = {
    isBot: true,
    referenced_message: message('x', { author: { id: bot.id } as never }) as never,
    mentions: [{ id: bot.id }] as never,
  };
  expect(isMeant(message('done', answer), bot)).toBe(false);
  expect(isMeant(message(`<@${bot.id}> done`, answer), bot)).toBe(true);
});

test('finds the id or name of the bot in the text of bots, but not of people', () => {
  for (const text of [`<@${bot.id}> you`, `hi <@!${bot.id}>`, 'and @gate.keeper?', '@Gate.Keeper: go']) {
    expect(isMeant(message(text, { isBot: true }), bot)).toBe(true);
    expect(isMeant(message(text), bot)).toBe(false);
  }
  for (const text of ['@gate', '@gate.keepers', 'x@gate.keeper', '@gateXkeeper', `<@${bot.id}1>`])
    expect(isMeant(message(text, { isBot: true }), bot)).toBe(false);
});

test('withoutName() removes the name of the bot before a text', () => {
  for (const text of [`<@${bot.id}> /new`, `<@!${bot.id}>, /new`, '@gate.keeper: /new'])
    expect(withoutName(text, bot)).toBe('/new');
  expect(withoutName(`hi <@${bot.id}>`, bot)).toBe(`hi <@${bot.id}>`);
  expect(withoutName('@gate.keepers hello', bot)).toBe('@gate.keepers hello');
});

test('finds any name of a bot exactly as it is written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 32 }), fc.string({ maxLength: 50 }), (username, rest) => {
      const named = { ...bot, username };
      expect(withoutName(`@${username} ${rest}`, named)).toBe(rest.replace(/^[\s,:]+/, ''));
      expect(isMeant(message(`so @${username}`, { isBot: true }), named)).toBe(true);
    }),
  );
});
