import { expect, test } from 'vitest';
import { unexpectedWords } from './engine-actions.ts';

test.each([
  ['list', '--jsn', [], ['--jsn']],
  ['list', 'claude', ['now'], ['claude', 'now']],
  ['install', 'codex', ['0.9'], ['0.9']],
  ['default', 'codex', ['--jsn'], ['--jsn']],
  ['model', 'codex', ['my', 'model'], ['model']],
  ['model', 'codex', ['--jsn'], ['--jsn']],
  ['key', 'gemini', ['--remov'], ['--remov']],
] as const)('"svc engine %s %s %j" does not take %j', (action, id, words, unexpected) => {
  expect(unexpectedWords(action, id, words)).toEqual(unexpected);
});

test.each([
  ['list', null, []],
  ['test', 'codex', []],
  ['model', 'codex', ['my-model']],
  ['auto-update', 'codex', ['on']],
  ['login', 'codex', ['--device-auth', 'more']],
] as const)('"svc engine %s %s %j" is taken', (action, id, words) => {
  expect(unexpectedWords(action, id, words)).toEqual([]);
});
