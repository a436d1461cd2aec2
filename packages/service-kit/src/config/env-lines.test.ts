import { expect, test } from 'vitest';
import { unreadLines } from './env-lines.ts';

test.each([
  ['SVC_LOG_LEVEL=debug\n# a comment\n\nexport A=1\n', []],
  ['SVC_LOG_LEVEL debug\nA=1\n  sk-pasted\n', [1, 3]],
  ['KEY="first\nsecond\nthird"\nB\n', [4]],
  ['A="one"\nB\nC="two"\n', [2]],
  ["NAME=it's here\nB\n", [2]],
  ['# an "open one\nB\nA="x"', [2]],
  ['\r\nA=1\r\nB\r\n', [3]],
  ['', []],
])('lines of a file that set nothing are found by number: %j', (text, numbers) => {
  expect(unreadLines(text)).toEqual(numbers);
});
