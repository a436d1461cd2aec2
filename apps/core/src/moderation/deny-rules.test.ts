import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { atOnce } from '@svc/service-kit/redaction/pace.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { parseDenyRules, readDenyRules, type DenyRules } from './deny-rules.ts';

/** Whether rules deny a text. */
const matches = (rules: DenyRules, text: string): boolean => atOnce(rules.matches(text));

const rules = parseDenyRules('# not wanted\nForbidden  words\n\n/\\bdrop (all|every) tables?\\b/\n');

test.each([
  'some forbidden words here',
  'FORBIDDEN\n WORDS',
  'for\u200Bbidden words',
  'for\uFE0Fbid\u034Fden\uFE0F words',
  'forbidden\u3164words',
  'forbidden\u2800words',
  'ｆｏｒｂｉｄｄｅｎ words',
  'please DROP every table',
  'drop\nall tables',
])('denies "%s"', (text) => {
  expect(matches(rules, text)).toBe(true);
});

test.each(['', 'forbidden', 'words that are forbidden', 'backdrop all tablets', '# not wanted'])('allows "%s"', (text) => {
  expect(matches(rules, text)).toBe(false);
});

test('many characters that expand to a sentence each are denied, a few are allowed', () => {
  expect(matches(rules, '\ufdfa'.repeat(100))).toBe(true);
  expect(matches(rules, `hello \ufdfa ${'\ufb01 \u0958 '.repeat(1000)}`)).toBe(false);
});

test('a file of comments only has no rules', () => {
  expect(parseDenyRules('# nothing\n\n').isEmpty).toBe(true);
  expect(rules.isEmpty).toBe(false);
});

test.each([
  ['a pattern that is not valid', '/(/', '"(" is not a regular expression'],
  ['a pattern that could be slow', '/(a)\\1/', 'is not a regular expression'],
  ['a line that is far too long', `ok\n${'x'.repeat(501)}`, 'line 2 is longer'],
  ['far too many rules', 'x\n'.repeat(201), 'it has 201 rules'],
])('refuses %s', (_what, text, message) => {
  expect(() => parseDenyRules(text)).toThrow(message);
});

test('patterns run in bounded time for any text', () => {
  const slow = parseDenyRules('/(a+)+$/\n/(x|xx)*y/');
  const since = workedMs();
  expect(matches(slow, `${'a'.repeat(100_000)}!${'x'.repeat(100_000)}`)).toBe(false);
  expect(workedMs() - since).toBeLessThan(2000);
});

test('a missing required file or an invalid one is reported with its path', () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = path.join(folder.path, 'deny.txt');
  expect(readDenyRules({ path: file, isNeeded: false }).isEmpty).toBe(true);
  expect(() => readDenyRules({ path: file, isNeeded: true })).toThrow(`${file} cannot be used: there is no such file`);
  writeFileSync(file, '/[/');
  expect(() => readDenyRules({ path: file, isNeeded: false })).toThrow(`${file} cannot be used: "["`);
});
