import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMeant, withoutName } from './is-meant.ts';
import type { ChatMessage } from './read-event.ts';

const bot = { id: '100000000000000001', username: 'gate.keeper', applicationId: '1' };
const message = (content: string, more: Partial<ChatMessage> & { isBot?: boolean } = {}) =>
  ({ content, author: { id: '2', username: 'ann', bot: more.isBot }, ...more }) as ChatMessage;

test('a mention, one of its role, and an answer to it are meant for the bot', () => {
  expect(isMeant(message('hi', { mentions: [{ id: bot.id }] as never }), bot)).toBe(true);
  expect(isMeant(message('hi', { mention_roles: ['7'] }), bot, ['7'])).toBe(true);
  expect(isMeant(message('hi', { referenced_message: message('x', { author: { id: bot.id } as never }) as never }), bot)).toBe(
    true,
  );
  expect(isMeant(message('hi', { mention_roles: ['7'], mentions: [{ id: '3' }] as never }), bot, ['8'])).toBe(false);
});

test('the answer of a bot to it gives it no word, unless it is named', () => {
  const answer = {
    isBot: true,
    referenced_message: message('x', { author: { id: bot.id } as never }) as never,
    mentions: [{ id: bot.id }] as never,
  };
  expect(isMeant(message('done', answer), bot)).toBe(false);
  expect(isMeant(message(`<@${bot.id}> done`, answer), bot)).toBe(true);
});

test('bots name it by its id or name, which Discord does not report; people do not', () => {
  for (const text of [`<@${bot.id}> you`, `hi <@!${bot.id}>`, 'and @gate.keeper?', '@Gate.Keeper: go']) {
    expect(isMeant(message(text, { isBot: true }), bot)).toBe(true);
    expect(isMeant(message(text), bot)).toBe(false);
  }
  for (const text of ['@gate', '@gate.keepers', 'x@gate.keeper', '@gateXkeeper', `<@${bot.id}1>`])
    expect(isMeant(message(text, { isBot: true }), bot)).toBe(false);
});

test('its name before a text is no part of it', () => {
  for (const text of [`<@${bot.id}> /new`, `<@!${bot.id}>, /new`, '@gate.keeper: /new'])
    expect(withoutName(text, bot)).toBe('/new');
  expect(withoutName(`hi <@${bot.id}>`, bot)).toBe(`hi <@${bot.id}>`);
  expect(withoutName('@gate.keepers hello', bot)).toBe('@gate.keepers hello');
});

test('whatever a bot is called, its name is found as it is written and nothing else is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 32 }), fc.string({ maxLength: 50 }), (username, rest) => {
      const named = { ...bot, username };
      expect(withoutName(`@${username} ${rest}`, named)).toBe(rest.replace(/^[\s,:]+/, ''));
      expect(isMeant(message(`so @${username}`, { isBot: true }), named)).toBe(true);
    }),
  );
});
