import { expect, test } from 'vitest';
import { createParts } from './in-parts.ts';

const long = 'abcdefgh'.repeat(2000);
const textOf = (events: readonly { type: string; text?: string }[], type: string) =>
  events.map((event) => (event.type === type ? event.text : '')).join('');

test('what is short stays as it is', () => {
  const parts = createParts();
  const events = [{ type: 'delta', text: 'a' }, { type: 'segment', text: 'a' }, { type: 'done' }] as const;
  expect(events.map((event) => parts(event))).toEqual(events.map((event) => [event]));
});

test.each(['delta', 'thinking'] as const)('a long %s is the sum of its parts', (type) => {
  const events = createParts()({ type, text: long });
  expect(events.length).toBe(4);
  expect(textOf(events, type)).toBe(long);
});

test('a long block without deltas becomes deltas and its end, one that came in deltas is only ended', () => {
  const parts = createParts();
  const whole = parts({ type: 'segment', text: long });
  expect(textOf(whole, 'delta')).toBe(long);
  expect(whole.at(-1)).toEqual({ type: 'segment', text: long });
  parts({ type: 'delta', text: long });
  expect(parts({ type: 'segment', text: long })).toEqual([{ type: 'segment', text: long }]);
  expect(parts({ type: 'segment', text: long }).length).toBe(5);
});
