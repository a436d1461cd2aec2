import { expect, test } from 'vitest';
import fc from 'fast-check';
import { createBotTurns } from './bot-turns.ts';

const by = (raw_id: string, key = 'k') => ({
  conversation_key: key,
  sender: { raw_id, ...(raw_id === 'bot' && { is_bot: true }) },
});

test('bots get a limited number of consecutive turns, and more after a message from a person', () => {
  const turns = createBotTurns(2);
  const say = (who: string, key?: string) => {
    const isOver = turns.isOver(by(who, key));
    if (!isOver) turns.note(by(who, key));
    return !isOver;
  };
  expect(['bot', 'bot', 'bot', 'bot', 'ann', 'bot', 'bot', 'bot'].map((who) => say(who))).toEqual([
    true,
    true,
    false,
    false,
    true,
    true,
    true,
    false,
  ]);
  expect(say('bot', 'another room')).toBe(true);
});

test('random turns never exceed the limit of consecutive bot turns, and people are never limited', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('bot', 'ann')), fc.integer({ min: 0, max: 5 }), (said, max) => {
      const turns = createBotTurns(max);
      let inRow = 0;
      for (const who of said) {
        const isOver = turns.isOver(by(who));
        if (who === 'ann') expect(isOver).toBe(false);
        if (isOver) continue;
        turns.note(by(who));
        inRow = who === 'bot' ? inRow + 1 : 0;
        expect(inRow).toBeLessThanOrEqual(max);
      }
    }),
  );
});

test('at most 10,000 rooms are counted, and the one inactive longest is dropped', () => {
  const turns = createBotTurns(1);
  for (let room = 0; room <= 10_000; room++) turns.note(by('bot', `${room}`));
  expect([turns.isOver(by('bot', '0')), turns.isOver(by('bot', '10000'))]).toEqual([false, true]);
});
