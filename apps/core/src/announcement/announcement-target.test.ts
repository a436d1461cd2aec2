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
])('the target %s matches the session: %s', (target, expected) => {
  expect(fits(target, reader)).toBe(expected);
});

test('an announcement for a person does not reach their public conversations', () => {
  const inPublic = { ...reader, isPublic: true };
  const targets = ['*', 'compat:c1:key', 'surface:compat', 'identity:anna'];
  expect(targets.filter((target) => !fits(target, inPublic))).toEqual(['identity:anna']);
});

test('a session without a known person gets no announcement for a person', () => {
  const nobody = { ...reader, principalKey: null };
  expect(['identity:null', 'identity:', 'identity:anna'].filter((target) => fits(target, nobody))).toEqual([]);
});

test.each(['*', 'compat:c1:key', 'a key', 'surface:compat', 'identity:Anna B.', 'surfaces'])(
  'accepts %s as a target',
  (target) => {
    expect(() => checkTarget(target)).not.toThrow();
  },
);

test.each(['', 'surface:', 'surface:Compat', 'surface:a b', 'surface:*', 'identity:'])('rejects %j as a target', (target) => {
  expect(() => checkTarget(target)).toThrow('"target" takes');
});
