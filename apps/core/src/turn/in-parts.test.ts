import { expect, test } from 'vitest';
import { createParts } from './in-parts.ts';

const long = 'abcdefgh'.repeat(2000);
const textOf = (events: readonly { type: string; text?: string }[], type: string) =>
  events.map((event) => (event.type === type ? event.text : '')).join('');

test('short events are passed unchanged', () => {
  const parts = createParts();
  const events = [{ type: 'delta', text: 'a' }, { type: 'segment', text: 'a' }, { type: 'done' }] as const;
  expect(events.map((event) => parts(event))).toEqual(events.map((event) => [event]));
});

test.each(['delta', 'thinking'] as const)('a long %s is split into parts that add up to it', (type) => {
  const events = createParts()({ type, text: long });
  expect(events.length).toBe(4);
  expect(textOf(events, type)).toBe(long);
});

test('a long segment is preceded by deltas unless they were already sent', () => {
  const parts = createParts();
  const whole = parts({ type: 'segment', text: long });
  expect(textOf(whole, 'delta')).toBe(long);
  expect(whole.at(-1)).toEqual({ type: 'segment', text: long });
  parts({ type: 'delta', text: long });
  expect(parts({ type: 'segment', text: long })).toEqual([{ type: 'segment', text: long }]);
  expect(parts({ type: 'segment', text: long }).length).toBe(5);
});
