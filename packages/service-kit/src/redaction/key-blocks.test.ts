import { expect, test } from 'vitest';
import { endOfKeyBlock, keyBlockStart } from './key-blocks.ts';

const body = 'MIIEpAIBAAKCAQEA7bq3Jm9xY2Z5d0tLc3VwZXJzZWNyZXRrZXltYXRlcmlhbDEyMzQ1';

test.each([
  [`\n${body}`, false, 'key'],
  [`\\n${body.slice(0, 30)}\\n${body.slice(30)}`, false, 'key'],
  [`" + "\n${body}`, false, 'key'],
  ['\nProc-Type: 4,ENC', false, 'key'],
  ['\nMIIEpAIB', false, 'open'],
  ['', false, 'open'],
  ['\nMIIE\\', false, 'open'],
  ['\nProc-Ty', false, 'open'],
  ['\nMIIEpAIB', true, 'key'],
  ['\nMIIEpAIB"', true, 'key'],
  ['\nMIIEpAIB")', true, 'no'],
  ['', true, 'no'],
  ['\n...', false, 'no'],
  ['\nabc-def', false, 'no'],
  [`${' '.repeat(49)}${body}`, false, 'no'],
  [`${' '.repeat(48)}${body}`, false, 'key'],
  [`\n${'A'.repeat(59)}.`, false, 'no'],
  [`\n${'A'.repeat(60)}.`, false, 'key'],
])('behind the head line stands %j (is it all: %s): %s', (after, isEnd, verdict) => {
  expect(keyBlockStart.verdict(after, isEnd)).toBe(verdict);
});

test('the words count in a head line only', () => {
  const isHead = (text: string) => keyBlockStart.isHead(text, text.length);
  expect(['-----BEGIN ', '-----BEGIN RSA ', '---- BEGIN SSH2 ENCRYPTED '].map(isHead)).toEqual([true, true, true]);
  expect(['the ', '-----END RSA ', '---BEGIN ', `-----BEGIN ${'A'.repeat(120)} `].map(isHead)).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect(keyBlockStart.isHead(`-----BEGIN RSA PRIVATE KEY----- ${'x'.repeat(120)}`, 15)).toBe(true);
});

test('the end line is looked for from a place on, and -1 says that there is none', () => {
  const text = '-----END A----- x -----END B-----';
  expect([endOfKeyBlock(text, 0), endOfKeyBlock(text, 5), endOfKeyBlock(text, 24)]).toEqual([0, 18, -1]);
});
