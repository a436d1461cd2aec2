import { expect, test } from 'vitest';
import { LinePrefix } from './line-prefix.ts';

/** The length of the prefix of the next line, or null. */
function passed(prefix: string, line: string): number | null {
  const reader = new LinePrefix(prefix);
  for (const [at, char] of Array.from(`\n${line}`).entries()) if (reader.take(char.charCodeAt(0))) return at;
  return null;
}

test.each([
  ['9: ', '10: MIIE', 4],
  ['     9\t', '    10\tMIIE', 7],
  ['2026-11-22T10:00:09.120Z app[12]: ', '2026-11-22T10:00:10.120Z app[12]: MIIE', 34],
  ['web-1  | ', 'web-1  | MIIE', 9],
  ['9: ', 'MIIEpAIB', null],
  ['key: ', 'MIIEpAIB', null],
  ['web-1  | ', 'web-x  | MIIE', null],
  ['  ', '  MIIE', null],
  ['', 'MIIE', null],
  [`${'a'.repeat(101)} `, `${'a'.repeat(101)} MIIE`, null],
])('after %j, the line %j has a prefix of %s characters', (prefix, line, length) => expect(passed(prefix, line)).toBe(length));

test('looks for a prefix at the beginning of a line only', () => {
  const reader = new LinePrefix('1: ');
  expect(reader.isOpen).toBe(true);
  expect(Array.from('x 1: y').some((char) => reader.take(char.charCodeAt(0)))).toBe(false);
  reader.take(10);
  expect(reader.isOpen).toBe(true);
  for (const char of 'a line of other words') reader.take(char.charCodeAt(0));
  expect(reader.isOpen).toBe(false);
});
