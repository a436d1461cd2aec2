import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AskOption } from '@svc/contract/ask.ts';
import { matchAnswer } from './match-answer.ts';

const yesNo: AskOption[] = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No, never' },
];
const meant = (text: string, options = yesNo) => matchAnswer(options, text)?.id ?? null;

test.each([
  ['yes', 'yes'],
  [' Yes. ', 'yes'],
  ['y', 'yes'],
  ['N', 'no'],
  ['no, never!', 'no'],
  ['1', 'yes'],
  ['2)', 'no'],
])('%j is recognized as an answer', (text, id) => expect(meant(text)).toBe(id));

test.each([
  '',
  '0',
  '3',
  '02',
  '-1',
  '1 2',
  'yes please',
  'ye',
  'maybe',
  'constructor',
  '__proto__',
  'toString',
  '１',
  '\u0000yes',
])('%j is not an answer but a message', (text) => expect(meant(text)).toBeNull());

test('a text that could mean two answers matches neither', () => {
  const years = [
    { id: 'a', label: '2' },
    { id: 'b', label: '3' },
    { id: 'c', label: 'Other' },
  ];
  expect([meant('2', years), meant('3', years), meant('a', years), meant('1', years)]).toEqual([null, null, 'a', 'a']);
  expect(
    meant('b', [
      { id: 'b', label: 'A' },
      { id: 'c', label: 'B' },
    ]),
  ).toBeNull();
});

test('rejects a text of a megabyte without reading it', () => {
  expect(meant('yes'.padEnd(1_000_000))).toBeNull();
});

test('a number matches only the answer at that position or with that label, in random lists', () => {
  const options = fc
    .uniqueArray(fc.record({ id: fc.stringMatching(/^[a-z][a-z0-9_-]{0,5}$/), label: fc.string({ minLength: 1 }) }), {
      selector: ({ id }) => id,
      minLength: 1,
      maxLength: 10,
    })
    .map((list): AskOption[] => list);
  fc.assert(
    fc.property(options, fc.nat(12), fc.string(), (list, at, text) => {
      const named = list.filter(({ label }) => label.trim().startsWith(String(at)));
      expect([undefined, list[at - 1], ...named]).toContain(matchAnswer(list, String(at)) ?? undefined);
      const found = matchAnswer(list, text);
      if (found !== null) expect(list).toContain(found);
    }),
  );
});
