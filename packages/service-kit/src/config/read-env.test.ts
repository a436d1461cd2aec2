import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readEnv } from './read-env.ts';

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
])('the first line of .env counts: %j (%s)', (text) => {
  expect(readEnv(rootWith(text), {})).toEqual({ SVC_MANAGER_TOKEN: 'a-token', B: '2' });
});

test('the environment wins over .env, also when it is empty', () => {
  expect(readEnv(rootWith('A=file\nB=file\n'), { A: '' })).toEqual({ A: '', B: 'file' });
});
