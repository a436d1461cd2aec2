import { expect, test } from 'vitest';
import { KeyBlockReader, keyBlockStart } from './key-blocks.ts';

const body = 'MIIEpAIBAAKCAQEA7bq3Jm9xY2Z5d0tLc3VwZXJzZWNyZXRrZXltYXRlcmlhbDEyMzQ1';

function read(after: string, isEnd: boolean): KeyBlockReader {
  const reader = new KeyBlockReader(0);
  for (let at = 1; at <= after.length && reader.state !== 'no' && reader.state !== 'ended' && reader.state !== 'over'; at++) {
    reader.take(after.charCodeAt(at - 1), after, at);
  }
  if (isEnd) reader.end(after.length);
  return reader;
}

test.each([
  [`\n${body}`, false, 'key'],
  [`\\n${body.slice(0, 30)}\\n${body.slice(30)}`, false, 'key'],
  [`\\\\n${body.slice(0, 30)}\\\\n${body.slice(30)}`, false, 'key'],
  [`" + "\n${body}`, false, 'key'],
  [`%0A${body}`, false, 'key'],
  [`\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n${body}`, false, 'key'],
  ['\nProc-Type: 4,ENCRYPTED\n\n', false, 'open'],
  ['\nMIIEpAIB', false, 'open'],
  ['', false, 'open'],
  ['\nMIIEpA\\', false, 'open'],
  ['\nProc-Ty', false, 'open'],
  ['\nMIIEpAIB', true, 'key'],
  ['\nMIIEpAIB"', true, 'key'],
  ['\nMIIEpAIB")', true, 'no'],
  ['', true, 'no'],
  ['\n...', false, 'no'],
  ['\nabc-def', false, 'no'],
  [' and the rest of it', false, 'no'],
  [' HERE IS IT', false, 'no'],
  ['\n-----END PRIVATE KEY-----', false, 'no'],
  [`${' '.repeat(65)}${body}`, false, 'no'],
  [`${' '.repeat(64)}${body}`, false, 'key'],
  [`\n${body.slice(0, 39)}.`, false, 'no'],
  [`\n${body.slice(0, 40)}.`, false, 'key'],
  [`\n${'Xx1'.repeat(40)}.`, false, 'no'],
])('after the head line, %j (complete: %s) is read as %s', (after, isEnd, state) => {
  expect(read(after, isEnd).state).toBe(state);
});

test.each([
  ['its end line', `\n${body}\nab: c\n-----END PRIVATE KEY----- 1`, 'ended', body.length + 8],
  ['its last line when prose follows', `\n${body}\nab3d\nThe end. ${'and so on '.repeat(60)}`, 'over', body.length + 6],
  ['its last long line', `\n${body}\nand:${body} ${'and so on '.repeat(60)}`, 'over', body.length * 2 + 6],
])('a key extends to %s', (_name, after, state, until) => {
  const reader = read(after, false);
  expect([reader.state, reader.keyUntil]).toEqual([state, until]);
});

test('recognizes a head line of a key, and not the words elsewhere', () => {
  const isHead = (text: string) => keyBlockStart.isHead(text, text.length);
  expect(['-----BEGIN ', '-----BEGIN RSA ', '---- BEGIN SSH2 ENCRYPTED '].map(isHead)).toEqual([true, true, true]);
  expect(
    ['the ', '-----END RSA ', '---BEGIN ', `-----BEGIN ${'A'.repeat(120)} `, '-----BEGIN A-----MIIE-----END '].map(isHead),
  ).toEqual([false, false, false, false, false]);
  expect(keyBlockStart.isHead(`-----BEGIN RSA PRIVATE KEY----- ${'x'.repeat(120)}`, 15)).toBe(true);
  expect(keyBlockStart.isHead('Private-Lines: 14', 0)).toBe(true);
});
