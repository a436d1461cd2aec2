import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyTurn, type Turn } from '../../state/turn.ts';
import { findMatches, placeOf } from './find-matches.ts';

const conversationOf = (turns: readonly Pick<Turn, 'text'>[]) => {
  const all = new Map(turns.map(({ text }, index) => [`k${index}`, { ...emptyTurn(`k${index}`, index), text }]));
  return { keys: () => [...all.keys()], turn: (key: string) => all.get(key) };
};
const found = (text: string, words: string) => findMatches(conversationOf([{ text }]), words).length;

test('finds words regardless of case and across Markdown markup', () => {
  expect(found('The **red** fox, the [Red](https://a.example/x) one', 'RED')).toBe(2);
  expect(found('The **red** fox', 'red fox')).toBe(1);
  expect(found('a `snake_case` name, _leaning_ words', 'snake_case')).toBe(1);
  expect(found('2*3 is 6', '2*3')).toBe(1);
  expect(found('x', '  ')).toBe(0);
});

test('returns every match once, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 3 }), { maxLength: 20 }), (many) => {
      const matches = findMatches(conversationOf(many.map((times) => ({ text: 'a word, '.repeat(times) }))), 'word');
      expect(matches).toEqual(
        many.flatMap((times, turn) => Array.from({ length: times }, (_, nth) => ({ key: `k${turn}`, nth }))),
      );
    }),
  );
});

test('searches a long text of brackets in little time', () => {
  const begun = performance.now();
  found('[('.repeat(500_000), 'x');
  expect(performance.now() - begun).toBeLessThan(2000);
});

test('keeps the current match while others are added and removed', () => {
  const matches = [
    { key: 'a', nth: 0 },
    { key: 'b', nth: 0 },
    { key: 'b', nth: 1 },
  ];
  expect(placeOf(matches, { key: 'b', nth: 0 })).toBe(1);
  expect(placeOf(matches, { key: 'b', nth: 5 })).toBe(2);
  expect(placeOf(matches, { key: 'gone', nth: 0 })).toBe(2);
  expect(placeOf(matches, null)).toBe(2);
  expect(placeOf([], null)).toBe(-1);
});
