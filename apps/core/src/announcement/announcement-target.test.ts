import { expect, test } from 'vitest';
import { checkTarget, fits } from './announcement-target.ts';

const reader = { conversationKey: 'compat:c1:key', channel: 'compat', principalKey: 'anna', isPublic: false };

test.each([
  ['*', true],
  ['compat:c1:key', true],
  ['compat:c1:KEY', false],
  ['compat:c1', false],
  ['surface:compat', true],
  ['surface:chatroom', false],
  ['identity:anna', true],
  ['identity:ann', false],
  ['identity:null', false],
])('target %s is for this session: %s', (target, expected) => {
  expect(fits(target, reader)).toBe(expected);
});

test('what is for a person is not for a public conversation of theirs', () => {
  const inPublic = { ...reader, isPublic: true };
  const targets = ['*', 'compat:c1:key', 'surface:compat', 'identity:anna'];
  expect(targets.filter((target) => !fits(target, inPublic))).toEqual(['identity:anna']);
});

test('a session of nobody known gets nothing for an identity', () => {
  const nobody = { ...reader, principalKey: null };
  expect(['identity:null', 'identity:', 'identity:anna'].filter((target) => fits(target, nobody))).toEqual([]);
});

test.each(['*', 'compat:c1:key', 'a key', 'surface:compat', 'identity:Anna B.', 'surfaces'])('%s is a target', (target) => {
  expect(() => checkTarget(target)).not.toThrow();
});

test.each(['', 'surface:', 'surface:Compat', 'surface:a b', 'surface:*', 'identity:'])('%j is no target', (target) => {
  expect(() => checkTarget(target)).toThrow('"target" takes');
});
