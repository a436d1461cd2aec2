import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readEnv, repeatedNames, unreadLines } from './env-file.ts';

function rootWith(text: string): string {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(path.join(folder.path, '.env'), text);
  return folder.path;
}

test.each([
  ['\uFEFFSVC_MANAGER_TOKEN=a-token\nB=2\n', 'a byte order mark'],
  ['SVC_MANAGER_TOKEN=a-token\r\nB=2\r\n', 'line ends of Windows'],
  ['export SVC_MANAGER_TOKEN="a-token" # mine\nB=2', 'what a shell would read'],
])('reads the first line of .env: %j (%s)', (text) => {
  expect(readEnv(rootWith(text), {})).toEqual({ SVC_MANAGER_TOKEN: 'a-token', B: '2' });
});

test('the environment overrides .env, even with an empty value', () => {
  expect(readEnv(rootWith('A=file\nB=file\n'), { A: '' })).toEqual({ A: '', B: 'file' });
});

test.each([
  ['SVC_LOG_LEVEL=debug\n# a comment\n\nexport A=1\n', []],
  ['SVC_LOG_LEVEL debug\nA=1\n  sk-pasted\n', [1, 3]],
  ['KEY="first\nsecond\nthird"\nB\n', [4]],
  ['A="one"\nB\nC="two"\n', [2]],
  ["NAME=it's here\nB\n", [2]],
  ['# an "open one\nB\nA="x"', [2]],
  ['\r\nA=1\r\nB\r\n', [3]],
  ['', []],
])('unreadLines() returns the numbers of lines that set nothing: %j', (text, numbers) => {
  expect(unreadLines(text)).toEqual(numbers);
});

test.each([
  ['SVC_CORE_PORT=1\nB=2\nexport SVC_CORE_PORT = 3\nSVC_CORE_PORT=4\n', ['SVC_CORE_PORT']],
  ['\uFEFFA=1\r\nA=2\r\n', ['A']],
  ['A=1\n#A=2\nB="\nA=3\n"\n', []],
])('repeatedNames() returns names that are set more than once: %j', (text, names) => {
  expect(repeatedNames(text)).toEqual(names);
});
